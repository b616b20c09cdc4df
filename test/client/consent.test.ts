import { afterEach, expect, it, vi } from 'vitest';
import { consentTo, FACTS } from '../../src/client/consent.js';
import { createLocalStorage } from '../support/local-storage.js';
import { startTracker } from '../support/shop.js';
import { DIRECT, openSite } from '../support/site.js';

afterEach(() => vi.unstubAllGlobals());

it('does not overwrite a denial of another page that this one has not heard of yet', () => {
  const values = new Map<string, string>();
  vi.stubGlobal('localStorage', createLocalStorage(values));
  const consent = consentTo('shop');
  consent.remember('analytics-outbox https://in.example.com shop');
  values.set('analytics-outbox shop consent', 'refused');
  consent.remember('analytics-outbox https://in.example.com shop'); // its database works again
  expect(consent.current(false)).toBe('denied');
});

it('takes a fact of a former build on the page, which has fewer members, and is heard by it', () => {
  openSite();
  const follow = vi.fn();
  const former = { consent: 'granted', isSaid: true, followers: new Set([follow]) };
  Object.assign(globalThis, { [FACTS]: new Map([['shop', former]]) });
  const { analytics } = startTracker(DIRECT);
  expect(analytics.status().consent).toBe('granted');
  analytics.setConsent('denied');
  expect(former.consent).toBe('denied');
  expect(follow).toHaveBeenCalled();
  analytics.stop();
});

it('lets a former build that comes later find all that it knows', () => {
  openSite();
  const { analytics } = startTracker(DIRECT);
  const [fact] = [
    ...(globalThis as unknown as Record<symbol, Map<string, object>>)[FACTS]!.values(),
  ];
  expect(fact).toMatchObject({ consent: 'granted' });
  expect(fact).toMatchObject({ names: expect.any(Set), followers: expect.any(Set) });
  analytics.stop();
});

it('does not turn a denial by an option into less where localStorage is blocked', () => {
  openSite();
  const blocked = () => {
    throw new DOMException('blocked', 'SecurityError');
  };
  vi.stubGlobal('localStorage', { getItem: blocked, setItem: blocked, removeItem: blocked });
  const denied = startTracker({ ...DIRECT, consent: 'denied' });
  const pending = startTracker({ ...DIRECT, consent: 'pending' });
  expect(pending.analytics.status().consent).toBe('denied');
  for (const { analytics } of [denied, pending]) analytics.stop();
});

it('is told by `status()` of a page that has opted out by `disabled`', () => {
  openSite();
  const { analytics } = startTracker({ ...DIRECT, disabled: true });
  expect(analytics.status().consent).toBe('granted');
  analytics.setConsent('denied');
  expect(analytics.status().consent).toBe('denied');
});
