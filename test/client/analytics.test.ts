import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { taken } from '../support/answers.js';
import { DIRECT, openSite, track } from '../support/site.js';

// Some of the timers outlive their tracker.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('a function of the page that calls the tracker', () => {
  const event = (analytics: ReturnType<typeof track>['analytics']) => {
    for (let i = 0; i < 3; i++) analytics.event('Inside');
  };
  /** Ways of the page to be called by the tracker, each with what sets them off. */
  const WAYS: Record<string, (work: () => void) => Parameters<typeof track>[0]> = {
    onDrop: (onDrop) => ({ onDrop, consent: 'denied' }),
    beforeSend: (work) => ({ beforeSend: (draft) => (work(), draft) }),
    context: (work) => ({ context: () => (work(), {}) }),
    onError: (onError) => ({ onError, fetch: async () => new Response('', { status: 401 }) }),
  };
  const TYPES = ['record', 'sent', 'outcome', 'drop', 'storage', 'consent', 'reset'] as const;

  /** Calls of the page's function during one call of the tracker, and what became of it. */
  const run = async (
    options: (work: () => void) => Parameters<typeof track>[0],
    type?: (typeof TYPES)[number],
  ) => {
    openSite();
    let calls = 0;
    let depth = 0;
    let deepest = 0;
    const work = () => {
      calls++;
      deepest = Math.max(deepest, ++depth);
      if (calls < 1_000) event(analytics);
      if (type === 'consent') analytics.setConsent(calls % 2 ? 'denied' : 'granted');
      depth--;
    };
    const { analytics } = track({ ...DIRECT, flushInterval: 1, fetch: taken, disabled: true });
    if (type) analytics.on(type, work);
    analytics.init({ ...DIRECT, flushInterval: 1, fetch: taken, ...options(work) } as never);
    analytics.event('Outside');
    if (type === 'reset') analytics.reset();
    if (type === 'consent') analytics.setConsent('pending');
    await vi.waitFor(() => expect(calls).toBeGreaterThan(0), 5_000);
    analytics.stop();
    return { calls: calls > 0, deepest };
  };

  it.each(Object.entries(WAYS))('is not called inside itself: %s', async (_, options) => {
    expect(await run(options)).toEqual({ calls: true, deepest: 1 });
  });

  it.each(TYPES)('is not called inside itself: a listener for %s', async (type) => {
    const options = () => (type === 'drop' ? { consent: 'denied' as const } : {});
    expect(await run(options, type)).toEqual({ calls: true, deepest: 1 });
  });
});
