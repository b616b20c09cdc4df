import { describe, expect, it, vi } from 'vitest';
import { analytics, asTestAnalytics, createAnalytics } from '../../src/testing.js';
import { createAnalytics as createReal } from '../../src/index.js';
import type { Analytics, Options } from '../../src/client/types.js';

const NOW = Date.parse('2026-03-01T12:00:00.000Z');
const SETUP: Options = {
  baseUrl: 'https://in.example.com',
  token: 't',
  project: 'shop',
  channel: 'web',
  now: () => NOW,
};

interface Events {
  'Signed Up': { plan: 'free' | 'pro' };
  'Page Viewed': { path?: string };
}

describe('what a test may ask for', () => {
  it('is what the service would get, in order', () => {
    const test = createAnalytics(SETUP);
    test.event('Page Viewed', { path: '/' });
    test.identify('user_1', { plan: 'pro' });
    test.event('Signed Up', { plan: 'pro', channel: 'growth', icon: '🎉', notify: true });
    test.reset();
    test.event('Page Viewed');
    const usual = { project: 'shop', channel: 'web', timestamp: '2026-03-01T12:00:00.000Z' };
    const user = { project: 'shop', user_id: 'user_1', properties: { plan: 'pro' } };
    const first = { ...usual, event: 'Page Viewed', tags: { path: '/' } };
    const second = {
      ...{ ...usual, channel: 'growth', event: 'Signed Up', icon: '🎉', notify: true },
      ...{ tags: { plan: 'pro' }, user_id: 'user_1' },
    };
    const third = { ...usual, event: 'Page Viewed', tags: {} };
    expect(test.rows()).toEqual([
      { type: 'event', body: first },
      { type: 'identify', body: user },
      { type: 'event', body: second },
      { type: 'event', body: third },
    ]);
    expect(test.events()).toEqual([first, second, third]);
    expect(test.events('Page Viewed')).toEqual([first, third]);
    expect(test.identifies()).toEqual([user]);
    expect(test.identifies('user_1')).toEqual([user]);
    expect(test.identifies('user_2')).toEqual([]);
    expect(test.status()).toMatchObject({ waiting: 4, delivered: 0, paused: undefined });
  });

  it('has all calls with their arguments, wrong ones too', () => {
    const test = createAnalytics();
    test.init(SETUP);
    test.event('A', { plan: 'pro' });
    test.event('');
    test.identify('u');
    test.setConsent('granted');
    test.reset();
    void test.flush();
    test.stop();
    expect(test.calls()).toEqual([
      { method: 'init', args: [SETUP] },
      { method: 'event', args: ['A', { plan: 'pro' }] },
      { method: 'event', args: [''] },
      { method: 'identify', args: ['u'] },
      { method: 'setConsent', args: ['granted'] },
      { method: 'reset', args: [] },
      { method: 'flush', args: [] },
      { method: 'stop', args: [] },
    ]);
    expect(test.events()).toMatchObject([{ event: 'A' }]);
    expect(test.drops()).toMatchObject([{ reason: 'invalid-call' }]);
  });

  it('works before `init`, and without a page', () => {
    const test = createAnalytics();
    test.event('A');
    expect(test.events()).toMatchObject([{ event: 'A', project: 'test', channel: 'test' }]);
    expect(test.status().paused).toBe('not-started');
    test.init({ relay: '/a', project: 'shop', channel: 'web' });
    test.event('B');
    expect(test.events('B')).toMatchObject([{ project: 'shop', channel: 'web' }]);
  });

  it('refuses wrong options as the real one does', () => {
    const wrong = { ...SETUP, flushat: 1 } as Options;
    expect(() => createAnalytics(wrong)).toThrow(/wrong or missing: flushat/);
  });

  it('is forgotten by `clear`, with the user and the consent', () => {
    const heard = vi.fn();
    const test = createAnalytics(SETUP);
    test.on('record', heard);
    test.identify('u');
    test.event('');
    test.event('A');
    test.setConsent('denied');
    test.clear();
    for (const list of [test.rows(), test.calls(), test.drops()]) expect(list).toEqual([]);
    expect(test.status()).toMatchObject({ consent: 'granted', waiting: 0, dropped: {} });
    test.event('B');
    expect(test.events()).toEqual([expect.not.objectContaining({ user_id: 'u' }) as unknown]);
    expect(heard).toHaveBeenCalledTimes(3);
  });

  it('cannot be changed through an answer', () => {
    const test = createAnalytics(SETUP);
    test.event('A', { plan: 'pro' });
    test.events()[0]!.event = 'B';
    test.calls()[0]!.args.length = 0;
    test.rows().length = 0;
    expect(test.events()).toMatchObject([{ event: 'A' }]);
    expect(test.calls()).toMatchObject([{ args: ['A', { plan: 'pro' }] }]);
  });

  it('has the types of the event map', () => {
    const typed = createAnalytics<Events, { plan: string }>(SETUP);
    typed.event('Signed Up', { plan: 'pro' });
    const plans: ('free' | 'pro' | undefined)[] = typed
      .events('Signed Up')
      .map(({ tags }) => tags?.plan);
    expect(plans).toEqual(['pro']);
    // @ts-expect-error no such event
    typed.events('Singed Up');
    const asReal: Analytics<Events, { plan: string }> = typed;
    expect(asTestAnalytics(asReal).events('Signed Up')).toHaveLength(1);
  });

  it('is not to be had of a real instance', () => {
    expect(() => asTestAnalytics(createReal())).toThrow(/mock the module first/);
  });

  it('has a ready-made instance', () => {
    analytics.event('A');
    expect(analytics.events('A')).toHaveLength(1);
    analytics.clear();
  });
});

describe('an instance for tests', () => {
  it('delivers by `flush`, and tells listeners until they are taken off', async () => {
    const steps: string[] = [];
    const test = createAnalytics(SETUP);
    const off = test.on('record', () => steps.push('record'));
    test.on('sent', () => steps.push('sent'));
    test.on('outcome', ({ outcome }) => {
      steps.push(outcome);
      throw new Error('a listener of the page');
    });
    test.event('A');
    const done = { delivered: 1, retried: 0, rejected: 0, waiting: 0 };
    expect(await test.flush()).toEqual(done);
    expect(await test.flush()).toEqual({ ...done, delivered: 0 });
    off();
    test.event('B');
    expect(steps).toEqual(['record', 'sent', 'delivered']);
    expect(test.status()).toMatchObject({ delivered: 1, waiting: 1 });
  });

  it('is started by the time it tells of consent, for what waits for that, such as auto-capture', () => {
    const test = createAnalytics();
    const told: unknown[] = [];
    test.on('consent', () => told.push(test.status()));
    test.init(SETUP);
    expect(told).toMatchObject([{ consent: 'granted', paused: undefined }]);
  });

  it('starts anew after `stop`', () => {
    const test = createAnalytics({ ...SETUP, disabled: true });
    test.stop();
    test.event('A');
    expect(test.events()).toMatchObject([{ project: 'test' }]);
  });

  it('goes on after `stop` with the user, and with what waits', async () => {
    const test = createAnalytics(SETUP);
    test.identify('u');
    test.event('A');
    test.stop();
    expect(test.events('A')).toHaveLength(1);
    test.init(SETUP);
    test.event('B');
    expect(test.events('B')).toMatchObject([{ user_id: 'u' }]);
    expect(await test.flush()).toMatchObject({ delivered: 3, waiting: 0 });
    expect(test.rows()).toHaveLength(3);
    expect(test.drops()).toEqual([]);
  });

  it('keeps the user of calls before `init`', () => {
    const test = createAnalytics();
    test.identify('u');
    test.init(SETUP);
    test.event('A');
    expect(test.events()).toMatchObject([{ user_id: 'u', project: 'shop' }]);
  });

  it('has a user and a consent of its own', () => {
    const other = createAnalytics(SETUP);
    other.identify('u');
    other.setConsent('denied');
    const test = createAnalytics(SETUP);
    test.event('A');
    expect(test.events()).toEqual([expect.not.objectContaining({ user_id: 'u' }) as unknown]);
    expect(test.status().consent).toBe('granted');
    const held = createAnalytics({ ...SETUP, consent: 'pending' });
    held.event('A');
    expect(held.rows()).toEqual([]);
  });

  it('tells of a listener for an event that there is not', () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const test = createAnalytics(SETUP);
    test.on('drop', () => undefined);
    test.on('dropped' as never, () => undefined);
    expect(warn.mock.calls).toEqual([
      [expect.stringContaining('`on` knows no event `dropped`: there are record, sent,')],
    ]);
    warn.mockRestore();
  });

  it('uses no timer, no token and no network', async () => {
    const names = ['setTimeout', 'setInterval', 'fetch'] as const;
    const spies = names.map((name) => vi.spyOn(globalThis, name));
    const [token, own] = [vi.fn(() => 't'), vi.fn()];
    const test = createAnalytics({ ...SETUP, token, fetch: own });
    test.identify('u');
    test.event('A');
    test.setConsent('denied');
    const settled = test.flush();
    test.stop();
    await settled;
    test.init({ relay: '/a', project: 'shop', channel: 'web', fetch: own });
    test.event('B');
    await test.flush();
    for (const spy of [...spies, token, own]) expect(spy).not.toHaveBeenCalled();
    vi.restoreAllMocks();
  });

  it('delivers nothing by itself', async () => {
    const test = createAnalytics({ ...SETUP, flushAt: 1, flushInterval: 1 });
    test.event('A');
    await new Promise((resolve) => setTimeout(resolve));
    expect(test.status()).toMatchObject({ delivered: 0, waiting: 1 });
  });

  it('delivers all that waits while the clock of a test stands still', async () => {
    vi.useFakeTimers();
    const test = createAnalytics({ ...SETUP, concurrency: 1 });
    for (let i = 0; i < 100; i++) {
      test.identify(`user_${i % 3}`);
      test.event('A');
    }
    expect(await test.flush()).toMatchObject({ delivered: 200, waiting: 0 });
    expect(test.status()).toMatchObject({ delivered: 200, waiting: 0, inFlight: 0 });
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });
});
