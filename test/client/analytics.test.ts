import { describe, expect, it } from 'vitest';
import type { Options } from '../../src/client/types.js';
import { passUntil } from '../support/clock.js';
import { openShop } from '../support/shop.js';

describe('a function of the page that calls the tracker', () => {
  type Own = (work: () => void) => Partial<Options>;
  /** Ways of the page to be called by the tracker, each with what sets them off. */
  const WAYS: Record<string, Own> = {
    onDrop: (onDrop) => ({ onDrop, consent: 'denied' }),
    beforeSend: (work) => ({ beforeSend: (draft) => (work(), draft) }),
    context: (work) => ({ context: () => (work(), {}) }),
    onError: (onError) => ({ onError, fetch: async () => new Response('', { status: 401 }) }),
  };
  const TYPES = ['record', 'sent', 'outcome', 'drop', 'storage', 'consent', 'reset'] as const;

  /** How deep the page's function is inside itself while it calls the tracker. */
  const depthOf = async (own: Own, type?: (typeof TYPES)[number]) => {
    const { visitUnset, options } = openShop();
    const { analytics } = visitUnset();
    let calls = 0;
    let depth = 0;
    let deepest = 0;
    const work = () => {
      calls++;
      deepest = Math.max(deepest, ++depth);
      for (let i = 0; i < 3 && calls < 1_000; i++) analytics.event('Inside');
      if (type === 'consent') analytics.setConsent(calls % 2 ? 'denied' : 'granted');
      depth--;
    };
    if (type) analytics.on(type, work);
    analytics.init({ ...options, ...own(work) } as Options);
    analytics.event('Outside');
    if (type === 'reset') analytics.reset();
    if (type === 'consent') analytics.setConsent('pending');
    await passUntil(() => calls > 0);
    analytics.stop();
    return deepest;
  };

  it.each(Object.entries(WAYS))('is not called inside itself: %s', async (_, own) => {
    expect(await depthOf(own)).toBe(1);
  });

  it.each(TYPES)('is not called inside itself: a listener for %s', async (type) => {
    expect(await depthOf(() => (type === 'drop' ? { consent: 'denied' } : {}), type)).toBe(1);
  });
});
