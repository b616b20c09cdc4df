import { describe, expect, it, vi } from 'vitest';
import { FOREIGN } from '../dev/foreign-attributes.js';
import type { Options } from '../../src/client/types.js';
import { pass, passUntil } from '../support/clock.js';
import { names } from '../support/shop.js';
import { BASE_URL } from '../support/site.js';
import { openTab } from '../support/tab.js';

/** So long that within a test nothing happens by it. */
const NEVER = '600000';

const openWith = async (attributes: Record<string, string | undefined>, globals = {}) => {
  const tab = openTab();
  await tab.open(attributes, { hasStub: false, globals });
  Object.assign(tab.site.doc, { readyState: 'complete' }); // a page that loads hurries
  const analytics = tab.install();
  const track = (...events: string[]) => {
    for (const event of events) analytics.event(event, { tags: { text: 'x'.repeat(100) } });
  };
  return { ...tab, analytics, track };
};
/**
 * What shows that the attribute does what the option does. Each option has one, or it does not compile. That `debug`
 * tells more is seen in browsers (e2e/developer.spec.ts).
 */
const PROOFS: Record<Exclude<keyof Options, 'debug'>, () => Promise<void>> = {
  baseUrl: async () => {
    const { track, holds, service } = await openWith({ baseUrl: `${BASE_URL}/deep/` });
    track('here');
    await holds(['here']);
    expect(service.requests[0]!.path).toBe('/deep/v1/event');
  },
  token: async () => {
    const { track, analytics, service } = await openWith({ token: 'another' });
    track('refused');
    await passUntil(() => analytics.status().paused === 'setup');
    expect(service.requests[0]).toMatchObject({ status: 401 });
  },
  relay: async () => {
    const { track, holds, relay } = await openWith({
      ...{ relay: '/a', baseUrl: undefined, token: undefined },
    });
    track('one');
    await holds(['one']);
    expect(relay.requests[0]!.path).toBe('/a/v1/batch');
  },
  project: async () => {
    const { track, holds, service } = await openWith({ project: 'other' });
    track('one');
    await holds(['one']);
    expect(service.one('one')).toMatchObject({ project: 'other', channel: 'web' });
  },
  channel: async () => {
    const { track, holds, service } = await openWith({ channel: 'growth' });
    track('one');
    await holds(['one']);
    expect(service.one('one')).toMatchObject({ project: 'shop', channel: 'growth' });
  },
  flushAt: async () => {
    const { track, holds, service } = await openWith({ flushAt: '3', flushInterval: NEVER });
    track('one', 'two');
    await pass(60_000);
    expect(service.requests).toEqual([]);
    track('three');
    await holds(['one', 'two', 'three']);
  },
  flushInterval: async () => {
    const { track, service, holds } = await openWith({ flushInterval: '5000' });
    const called = Date.now();
    track('one');
    await holds(['one']);
    expect(service.requests[0]!.at - called).toBeGreaterThanOrEqual(5_000);
  },
  concurrency: async () => {
    const { track, analytics, service } = await openWith({ concurrency: '2' });
    service.faults([{ hang: true }]);
    track('one', 'two', 'three');
    await pass(5_000);
    expect(analytics.status()).toMatchObject({ inFlight: 2, waiting: 1, delivered: 0 });
  },
  timeout: async () => {
    const { track, holds, service } = await openWith({ timeout: '2000' });
    service.faults([{ hang: true, times: 1 }]);
    track('one');
    await holds(['one'], 10_000);
    expect(service.requests).toHaveLength(2);
  },
  maxAge: async () => {
    const { track, analytics } = await openWith({ maxAge: '60000', flushInterval: '90000' });
    track('one');
    await pass(95_000);
    expect(analytics.status()).toMatchObject({ delivered: 0, dropped: { expired: 1 } });
  },
  maxRecords: async () => {
    const { track, analytics } = await openWith({ maxRecords: '2', flushInterval: NEVER });
    track('one', 'two', 'three');
    expect(analytics.status()).toMatchObject({ waiting: 2, dropped: { 'outbox-full': 1 } });
  },
  maxBytes: async () => {
    const { track, analytics } = await openWith({ maxBytes: '600', flushInterval: NEVER });
    track('one', 'two', 'three');
    expect(analytics.status()).toMatchObject({ waiting: 2, dropped: { 'outbox-full': 1 } });
  },
  maxRecordBytes: async () => {
    const { track, analytics } = await openWith({ maxRecordBytes: '150' });
    track('one');
    expect(analytics.status()).toMatchObject({ dropped: { 'too-large': 1 } });
  },
  idempotencyKey: async () => {
    const { track, holds, service } = await openWith({ idempotencyKey: '' });
    track('one');
    await holds(['one']);
    expect(service.one('one').key).toMatch(/^[\w-]{21}$/);
  },
  consent: async () => {
    const { track, analytics } = await openWith({ consent: 'pending' });
    track('one');
    expect(analytics.status()).toMatchObject({ consent: 'pending', storage: 'none', waiting: 1 });
  },
  respectGpc: async () => {
    const tab = openTab();
    Object.assign(navigator, { globalPrivacyControl: true });
    await tab.open({ respectGpc: '' });
    expect(tab.install().status()).toMatchObject({ consent: 'denied' });
  },
  context: async () => {
    const pageTags = () => ({ plan: 'pro' });
    const { track, holds, service } = await openWith({ context: 'pageTags' }, { pageTags });
    track('one');
    await holds(['one']);
    expect(service.one('one')['tags']).toMatchObject({ plan: 'pro' });
  },
  beforeSend: async () => {
    const onlyShort = (draft: { body: { event: string } }) =>
      draft.body.event.length > 5 ? null : draft;
    const { track, holds } = await openWith({ beforeSend: 'onlyShort' }, { onlyShort });
    track('short', 'too long');
    await holds(['short']);
  },
  onDrop: async () => {
    const heard = vi.fn();
    const { track } = await openWith({ onDrop: 'heard', maxRecordBytes: '150' }, { heard });
    track('one');
    expect(heard).toHaveBeenCalledWith(expect.objectContaining({ reason: 'too-large' }));
  },
  onError: async () => {
    const heard = vi.fn();
    const { track } = await openWith({ onError: 'heard', token: 'wrong' }, { heard });
    track('one');
    await passUntil(() => heard.mock.calls.length);
    expect(heard).toHaveBeenCalledWith(expect.objectContaining({ kind: 'setup', status: 401 }));
  },
  disabled: async () => {
    const { track, analytics } = await openWith({ disabled: '' });
    track('one');
    expect(analytics.status()).toMatchObject({ waiting: 0, storage: 'none', paused: 'disabled' });
  },
  fetch: async () => {
    const own = vi.fn(async () => Response.json({ success: true }));
    const { track, analytics, service } = await openWith({ fetch: 'own' }, { own });
    track('by hand');
    await passUntil(() => analytics.status().delivered === 1);
    expect(own).toHaveBeenCalledOnce();
    expect(service.requests).toEqual([]);
  },
  now: async () => {
    const ownClock = () => Date.UTC(2030, 0, 1);
    const { track, service, analytics } = await openWith({ now: 'ownClock' }, { ownClock });
    track('one');
    void analytics.flush();
    await pass(2_000);
    expect(service.one('one')['timestamp']).toBe('2030-01-01T00:00:00.000Z');
  },
};

describe('an attribute of the tag', () => {
  it.each(Object.entries(PROOFS))('sets `%s`', (_, prove) => prove());

  it.each([
    ['', true],
    ['true', true],
    ['false', false],
    // Any other text is told to the developer, and counts as not given.
    ...['YES', '0', 'no'].map((text): [string, boolean] => [text, false]),
  ])('switches a flag by "%s": %s', async (text, isOn) => {
    const { track, analytics, service, holds } = await openWith({
      ...{ disabled: text, debug: 'false', idempotencyKey: text },
    });
    track('one');
    expect(analytics.status()).toMatchObject({ waiting: isOn ? 0 : 1 });
    await holds(isOn ? [] : ['one']);
    for (const { key } of service.stored()) expect(key).toBeNull();
  });

  it('of another tool is left alone', async () => {
    const foreign = Object.fromEntries(FOREIGN.map((name) => [name, 'x']));
    const { track, holds } = await openWith(foreign);
    track('one');
    await holds(['one']);
  });

  it.each([
    ['more time than a parcel is held for', '120000'],
    ['more time than a timer can count', '3000000000'],
  ])('may give a request %s', async (_, timeout) => {
    const { track, holds } = await openWith({ timeout });
    track('one');
    await holds(['one']);
  });
});

/** A tag without a set-up. */
const NOTHING = { baseUrl: undefined, token: undefined, project: undefined, channel: undefined };

describe('a wrong set-up in the tag', () => {
  const CASES: Record<string, Record<string, string | undefined>> = {
    'token, channel': { token: 'tok–en', channel: ' ' },
    'baseUrl, flushAt': { baseUrl: '/api', flushAt: 'many' },
    'timeout, consent': { timeout: '20s', consent: 'maybe' },
    onDrop: { onDrop: 'missing' },
  };
  it.each(Object.entries(CASES))(
    'is told once, and stores and sends nothing: %s',
    async (wrong, attributes) => {
      const error = vi.spyOn(console, 'error').mockReturnValue();
      const { analytics, track, service, site } = await openWith(attributes);
      analytics.identify('user_1');
      track('one');
      void analytics.flush();
      await pass(60_000);
      expect(error.mock.calls).toEqual([
        [expect.stringContaining('analytics-outbox: wrong or missing: ')],
      ]);
      const told = (error.mock.calls[0]![0] as string).split('missing: ')[1]!.split(',');
      expect(told.toSorted()).toEqual(wrong.split(', ').toSorted());
      expect(service.requests).toEqual([]);
      expect(await site.traces()).toEqual([]);
    },
  );

  it('is told once: `init` on the stub', async () => {
    const error = vi.spyOn(console, 'error').mockReturnValue();
    const tab = openTab();
    const stub = await tab.open(NOTHING);
    stub.init({ baseUrl: 'https://a.example', token: 't', project: 'p' } as Options);
    tab.install();
    expect(error.mock.calls).toEqual([[expect.stringMatching(/wrong or missing: channel$/)]]);
  });

  it('can be put right by `init`, with nothing lost', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    const { track, analytics, options, holds } = await openWith({ project: undefined });
    track('before');
    analytics.init(options);
    await holds(['before']);
  });

  it('without any attribute waits for `init` in silence', async () => {
    const error = vi.spyOn(console, 'error').mockReturnValue();
    const { track, analytics } = await openWith(NOTHING);
    track(...names(2));
    expect(analytics.status()).toMatchObject({ waiting: 2, paused: 'not-started' });
    expect(error).not.toHaveBeenCalled();
  });
});

describe('the tag’s global', () => {
  it.each<[string, object]>([
    ['of another script', { mine: true, event: () => 'foreign' }],
    ['that is frozen', Object.freeze({ calls: [] })],
    ['that is no object', Object('UA-1') as object],
  ])('%s is left alone', async (_, foreign) => {
    const tab = openTab();
    await tab.open({}, { hasStub: false, globals: { analytics: foreign } });
    expect(tab.install()).toBe(foreign);
    await pass(5_000);
    expect(await tab.site.traces()).toEqual([]);
  });

  it('that is read-only is left alone', async () => {
    const tab = openTab();
    Object.defineProperty(tab.win, 'analytics', { value: undefined });
    await tab.open({}, { hasStub: false });
    expect(tab.install()).toBeUndefined();
    expect(await tab.site.traces()).toEqual([]);
  });

  it.each([
    ['', 'analytics'],
    ['outbox', 'outbox'],
  ])('is named by `data-global`: "%s"', async (global, name) => {
    const tab = openTab();
    await tab.open({ global }, { hasStub: false });
    tab.install();
    const { [name as 'analytics']: analytics, ...others } = tab.win;
    analytics!.event('one');
    await tab.holds(['one']);
    expect(Object.keys(others)).not.toContain('analytics');
  });
});
