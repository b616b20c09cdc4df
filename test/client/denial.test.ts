import { afterEach, describe, expect, it, vi } from 'vitest';
import { createTracker } from '../../src/client/analytics.js';
import { createDirectSend } from '../../src/client/delivery/send/direct.js';
import type { Options } from '../../src/client/types.js';
import { DIRECT, NAME, openSite, RELAY, track, sleep } from '../support/site.js';

afterEach(() => vi.unstubAllGlobals());

const KEY = 'analytics-outbox shop consent';
const failing = async () => new Response('', { status: 503 });

/** Whether it belongs to the project, of whatever destination. */
const isOwn = (trace: string) => /^\S+ (\S+ )?shop( |:|$)/.test(trace);

type Site = ReturnType<typeof openSite>;

/** A page that stores a user and an event, cannot send them, and is left. */
const leaveBehind = async (site: Site, options: object) => {
  const { analytics } = track({ ...options, flushInterval: 1, fetch: failing });
  analytics.identify('user_1');
  analytics.event('before');
  await vi.waitFor(async () => {
    expect(analytics.status().paused).toBe('backoff');
    expect(String(await site.traces())).toContain('before');
  });
  analytics.stop();
  // Its lease is given up.
  await vi.waitFor(async () => expect(String(await site.traces())).not.toContain('"until"'));
  site.next();
};

/** What pages have left of one project, under several destinations, and of others with a similar name. */
const openUsedSite = async () => {
  const site = openSite();
  await leaveBehind(site, DIRECT);
  await leaveBehind(site, { ...DIRECT, baseUrl: 'https://former.example' });
  await leaveBehind(site, { ...DIRECT, project: 'shop 2' });
  await leaveBehind(site, { ...DIRECT, project: 'my shop' });
  await leaveBehind(site, { ...DIRECT, project: 'consent' });
  return site;
};

const start = () => createTracker(createDirectSend).analytics;
const DISABLED = { ...DIRECT, disabled: true } as Options;
const deny = (analytics: ReturnType<typeof start>) => analytics.setConsent('denied');

/** Ways to deny consent to the project, on a page of its own. */
const WAYS: Record<string, (analytics: ReturnType<typeof start>) => void> = {
  'after `init`': (analytics) => (analytics.init(DIRECT), deny(analytics)),
  'before `init`': (analytics) => (deny(analytics), analytics.init(DIRECT)),
  'before `init` with a relay': (analytics) => (deny(analytics), analytics.init(RELAY)),
  'after `init` with a relay': (analytics) => (analytics.init(RELAY), deny(analytics)),
  'after `init` with `disabled`': (analytics) => (analytics.init(DISABLED), deny(analytics)),
  'before `init` with `disabled`': (analytics) => (deny(analytics), analytics.init(DISABLED)),
  'by an option': (analytics) => analytics.init({ ...DISABLED, consent: 'denied' }),
  'after `stop`': (analytics) => (analytics.init(DIRECT), analytics.stop(), deny(analytics)),
};

describe('a denial', () => {
  it.each(Object.entries(WAYS))(
    'erases all of the project, and nothing of others: %s',
    async (_, way) => {
      const site = await openUsedSite();
      const others = (await site.traces()).filter((trace) => !isOwn(trace));
      const analytics = start();
      way(analytics);
      await vi.waitFor(async () => expect((await site.traces()).filter(isOwn)).toEqual([KEY]));
      analytics.stop();
      expect(site.values.get(KEY)).toBe('refused');
      expect((await site.traces()).filter((trace) => !isOwn(trace))).toEqual(others);
    },
  );

  it('erases what localStorage names where the browser does not name its databases', async () => {
    const site = await openUsedSite();
    Object.assign(site.databases, { databases: undefined });
    const analytics = start();
    analytics.init(DISABLED);
    deny(analytics);
    await vi.waitFor(async () => expect((await site.traces()).filter(isOwn)).toEqual([KEY]));
  });

  it.each<[string, (site: Site, stop: () => void) => void]>([
    ['this page', () => undefined],
    ['this page, and the site has cleared localStorage', ({ values }) => values.clear()],
    ['an earlier page', (site, stop) => (site.next(), stop())],
  ])('erases a database that no key of its own tells of, used by %s', async (_, leave) => {
    const site = openSite();
    Object.assign(site.databases, { databases: undefined });
    const { analytics } = track({ ...DIRECT, fetch: () => new Promise<never>(() => undefined) });
    analytics.event('before');
    await vi.waitFor(async () => expect(String(await site.traces())).toContain('before'));
    leave(site, analytics.stop);
    await sleep(100); // what it has begun to write is written
    for (const key of site.values.keys()) if (!key.endsWith('consent')) site.values.delete(key);
    const next = start();
    next.init(DISABLED);
    deny(next);
    // A page that is gone may still have written that a parcel is empty.
    const left = async () => (await site.traces()).filter((one) => !one.includes('"records":[]'));
    await vi.waitFor(async () => expect(await left()).toEqual([KEY]));
    analytics.stop();
  });

  it('erases what the context has stored, on a page without a context too', async () => {
    const site = openSite();
    for (const key of ['analytics-outbox visitor', 'analytics-outbox session', 'visitor'])
      site.values.set(key, '{"id":"a"}');
    const analytics = start();
    analytics.init(DISABLED);
    deny(analytics);
    await vi.waitFor(() => expect([...site.values.keys()].sort()).toEqual([KEY, 'visitor']));
  });

  it('passes over keys of other scripts that do not decode', async () => {
    const site = openSite();
    site.values.set('analytics-outbox %E0%A4%A consent', 'granted');
    site.values.set(KEY, 'granted');
    deny(start());
    await vi.waitFor(() => expect(site.values.get(KEY)).toBe('refused'));
  });

  it.each(['before', 'after'])(
    'counts for all that is stored, %s an `init` that names no project',
    async (when) => {
      const site = await openUsedSite();
      const analytics = start();
      if (when === 'before') deny(analytics);
      analytics.init({ disabled: true });
      if (when === 'after') deny(analytics);
      const isLeft = (trace: string) => !trace.endsWith('consent');
      await vi.waitFor(async () => expect((await site.traces()).filter(isLeft)).toEqual([]));
      expect(new Set(site.values.values())).toEqual(new Set(['refused']));
    },
  );

  it('before an `init` in the same task says nothing about other projects', async () => {
    const site = await openUsedSite();
    const analytics = start();
    deny(analytics);
    analytics.init({ ...DISABLED, project: 'shop' } as Options);
    await Promise.resolve();
    expect(site.values.get('analytics-outbox shop%202 consent')).toBe('granted');
  });

  it.each([['refused', KEY]])('that was stored as `%s` counts', async (word, key) => {
    const site = await openUsedSite();
    site.values.delete(KEY);
    site.values.set(key, word);
    const { analytics } = track(DIRECT);
    expect(analytics.status().consent).toBe('denied');
    await vi.waitFor(async () => expect((await site.traces()).filter(isOwn)).toEqual([KEY]));
    analytics.stop();
    expect(site.values.get(KEY)).toBe('refused');
  });
});

describe('a grant after a denial', () => {
  /** A site where a denial was stored, and the page was left before anything was erased. */
  const openDeniedSite = async () => {
    const site = await openUsedSite();
    site.values.set(KEY, 'refused');
    return site;
  };
  const sentBy = async (work: (analytics: ReturnType<typeof start>, options: Options) => void) => {
    const sent: string[] = [];
    const fetch = async (_: unknown, { body }: RequestInit) => {
      sent.push(body as string);
      return new Response('{"success":true}');
    };
    const analytics = start();
    work(analytics, { ...DIRECT, flushInterval: 1, fetch: fetch as typeof globalThis.fetch });
    analytics.event('after');
    await vi.waitFor(() => expect(String(sent)).toContain('after'), 3_000);
    await analytics.flush();
    analytics.stop();
    return sent.map((body) => JSON.parse(body) as Record<string, unknown>);
  };

  it.each(['before', 'after'])('said %s `init` sends nothing from before', async (when) => {
    const site = await openDeniedSite();
    const sent = await sentBy((analytics, options) => {
      if (when === 'before') analytics.setConsent('granted');
      analytics.init(options);
      if (when === 'after') analytics.setConsent('granted');
    });
    expect(sent).toMatchObject([{ event: 'after' }]);
    expect(sent[0]).not.toHaveProperty('user_id');
    expect(site.values.get(KEY)).toBe('granted');
    expect((await site.traces()).filter(isOwn).join()).not.toContain('before');
  });

  it('counts for the next page, which erases what this one could not', async () => {
    const site = await openDeniedSite();
    const first = start();
    first.setConsent('granted');
    first.init({ ...DISABLED });
    site.next();
    const sent = await sentBy((analytics, options) => analytics.init(options));
    expect(sent).toMatchObject([{ event: 'after' }]);
  });

  const createReceiver = () => {
    const bodies: string[] = [];
    const fetch = async (_: unknown, { body }: RequestInit) => {
      bodies.push(body as string);
      return new Response('{"success":true}');
    };
    return { bodies, fetch: fetch as typeof globalThis.fetch };
  };
  const blocked = () => {
    throw new Error('blocked');
  };
  const never = () => new Promise<never>(() => undefined);

  it.each<[string, object | undefined]>([
    ['is missing', undefined],
    ['is blocked', { open: blocked, databases: blocked }],
    ['hangs', { open: () => ({}), databases: never }],
  ])('is followed where IndexedDB %s', async (_, indexedDB) => {
    openSite();
    vi.stubGlobal('indexedDB', indexedDB);
    const { bodies, fetch } = createReceiver();
    const { analytics } = track({ ...DIRECT, flushInterval: 1, fetch });
    deny(analytics);
    analytics.setConsent('granted');
    analytics.event('after');
    await vi.waitFor(() => expect(String(bodies)).toContain('after'), 5_000);
    expect(analytics.status().storage).toBe('memory');
    analytics.stop();
  });

  it('goes on from memory while erasing fails, and uses the database once all is erased', async () => {
    const site = await openDeniedSite();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    const { open } = site.databases;
    // The database of an address that the page does not use cannot be erased.
    const openSome = (name: string, version?: number) =>
      name.includes('former') ? blocked() : open.call(site.databases, name, version);
    const all = await site.databases.databases();
    const databases = async () => [...all].reverse(); // so that it comes before the page's own
    Object.assign(site.databases, { open: openSome, databases });
    const { bodies, fetch } = createReceiver();
    const { analytics } = track({ ...DIRECT, flushInterval: 1, fetch });
    const waitFor = async (isSo: () => unknown) => {
      for (let i = 0; i < 2_000 && !isSo(); i++) {
        await new Promise((done) => setImmediate(done));
        await vi.advanceTimersByTimeAsync(50);
      }
      expect(isSo()).toBeTruthy();
    };
    try {
      analytics.setConsent('granted');
      analytics.event('first');
      await waitFor(() => analytics.status().delivered === 1);
      site.hide();
      site.show();
      analytics.event('second');
      await waitFor(() => analytics.status().delivered === 2);
      expect(analytics.status().storage).toBe('memory');
      expect(site.values.get(KEY)).not.toBe('granted');
      Object.assign(site.databases, { open });
      await waitFor(() => analytics.status().storage === 'indexeddb');
      expect(site.values.get(KEY)).toBe('granted');
      await waitFor(() => analytics.status().elsewhere === 0);
    } finally {
      analytics.stop();
      vi.useRealTimers();
    }
    expect(bodies.map((body) => (JSON.parse(body) as { event: string }).event)).toEqual([
      'first',
      'second',
    ]);
    expect((await site.traces()).filter(isOwn).join()).not.toContain('before');
  });

  it('counts at once if this page has erased all: a call of the same task is handed off', async () => {
    const site = await openDeniedSite();
    const { bodies, fetch } = createReceiver();
    const { analytics } = track({ ...DIRECT, fetch });
    await vi.waitFor(async () => expect((await site.traces()).filter(isOwn)).toEqual([KEY]));
    analytics.setConsent('granted');
    analytics.event('Accepted');
    site.hide();
    expect(String(bodies)).toContain('Accepted');
    analytics.stop();
  });

  it('erases once more if another page has stored since', async () => {
    const site = await openDeniedSite();
    const { bodies, fetch } = createReceiver();
    const { analytics } = track({ ...DIRECT, flushInterval: 1, fetch });
    await vi.waitFor(async () => expect((await site.traces()).filter(isOwn)).toEqual([KEY]));
    // Another page is granted consent, stores a record, and denies it as it is left.
    site.values.delete(KEY);
    site.say(site.win, 'storage');
    site.values.set(KEY, 'refused');
    site.say(site.win, 'storage');
    analytics.setConsent('granted');
    expect(analytics.status().storage).toBe('none');
    expect(bodies).toEqual([]);
    analytics.stop();
  });

  it('counts on the same page where there is no IndexedDB', async () => {
    openSite();
    vi.stubGlobal('indexedDB', undefined);
    const sent = await sentBy((analytics, options) => {
      analytics.init(options);
      analytics.identify('user_1');
      deny(analytics);
      analytics.setConsent('granted');
    });
    expect(sent).toMatchObject([{ event: 'after' }]);
  });

  it('does not wait for a page that holds the database open', async () => {
    const site = await openDeniedSite();
    const open = site.databases.open(NAME);
    await new Promise((done) => (open.onsuccess = done));
    const sent = await sentBy((analytics, options) => {
      analytics.init(options);
      analytics.setConsent('granted');
    });
    expect(sent).toMatchObject([{ event: 'after' }]);
    open.result.close();
  });
});
