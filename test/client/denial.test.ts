import { describe, expect, it, vi } from 'vitest';
import type { Analytics, Options } from '../../src/client/types.js';
import { pass, passUntil } from '../support/clock.js';
import { openShop } from '../support/shop.js';
import { DIRECT, NAME, RELAY } from '../support/site.js';

const KEY = 'analytics-outbox shop consent';
/** When the last word of consent was said is kept beside it. */
const TIME = `${KEY} at`;
const DISABLED = { ...DIRECT, disabled: true } as Options;

/** Whether it belongs to the project, of whatever destination. */
const isOwn = (trace: string) => /^\S+ (\S+ )?shop( |:|$)/.test(trace);
const open = () => {
  const shop = openShop();
  const { site, service, visitUnset } = shop;
  return {
    ...shop,
    start: () => visitUnset().analytics,
    /** What the site keeps of the project. */
    own: async () => (await site.traces()).filter(isOwn),
    others: async () => (await site.traces()).filter((trace) => !isOwn(trace)),
    /** What the service has got since the site was opened, apart from what it has refused. */
    got: () => service.stored().map(({ event, user_id }) => [event, user_id]),
  };
};
/** What pages have left of one project, under several destinations, and of others with a similar name. */
const openUsedSite = async () => {
  const shop = open();
  shop.service.faults([{ status: 503 }]);
  for (const options of [
    {},
    { baseUrl: 'https://former.example' },
    ...['shop 2', 'my shop', 'consent'].map((project) => ({ project })),
  ]) {
    const { analytics } = shop.visit(options);
    analytics.identify('user_1');
    analytics.event('before');
    await pass(1_500);
    await shop.leave();
  }
  shop.service.faults([]);
  expect(String(await shop.own())).toContain('before');
  return shop;
};

const deny = (analytics: Analytics) => analytics.setConsent('denied');

type Site = ReturnType<typeof open>['site'];

/** Ways to deny consent to the project, on a page of its own. */
const WAYS: Record<string, (analytics: Analytics, site: Site) => void> = {
  'after `init`': (analytics) => (analytics.init(DIRECT), deny(analytics)),
  'before `init`': (analytics) => (deny(analytics), analytics.init(DIRECT)),
  'before `init` with a relay': (analytics) => (deny(analytics), analytics.init(RELAY)),
  'after `init` with a relay': (analytics) => (analytics.init(RELAY), deny(analytics)),
  'after `init` with `disabled`': (analytics) => (analytics.init(DISABLED), deny(analytics)),
  'before `init` with `disabled`': (analytics) => (deny(analytics), analytics.init(DISABLED)),
  'by an option': (analytics) => analytics.init({ ...DISABLED, consent: 'denied' }),
  'after `init`, and then `disabled`': (analytics) => (
    analytics.init(DIRECT),
    analytics.init(DISABLED),
    deny(analytics)
  ),
  'after `stop`': (analytics) => (analytics.init(DIRECT), analytics.stop(), deny(analytics)),
  'on a page before': (analytics, { values }) => {
    values.set(KEY, 'refused');
    analytics.init(DIRECT);
  },
  'where the browser does not name its databases': (analytics, { databases }) => {
    Object.assign(databases, { databases: undefined });
    analytics.init(DISABLED);
    deny(analytics);
  },
};

describe('a denial', () => {
  it.each(Object.entries(WAYS))(
    'erases all of the project, and nothing of others: %s',
    async (_, way) => {
      const { own, others, start, site } = await openUsedSite();
      const before = await others();
      way(start(), site);
      await pass(1_000);
      expect((await own()).filter((key) => key !== TIME)).toEqual([KEY]);
      expect(site.values.get(KEY)).toBe('refused');
      expect(await others()).toEqual(before);
    },
  );

  it.each<[string, (shop: ReturnType<typeof open>) => unknown]>([
    ['this page', () => undefined],
    ['this page, and the site has cleared localStorage', ({ site }) => site.values.clear()],
    ['an earlier page', ({ leave }) => leave()],
  ])('erases a database that no key of its own tells of, used by %s', async (_, leave) => {
    const shop = open();
    const { site, service, visit, start } = shop;
    Object.assign(site.databases, { databases: undefined });
    service.faults([{ hang: true }]);
    visit().track(['before']);
    await pass(1_500);
    await leave(shop);
    for (const key of site.values.keys()) if (!key.endsWith('consent')) site.values.delete(key);
    const next = start();
    next.init(DISABLED);
    deny(next);
    await pass(1_000);
    // A page that is gone may still have written that a parcel is empty.
    const left = (await site.traces()).filter((one) => !one.includes('"records":[]'));
    expect(left).toEqual([KEY, TIME]);
  });

  it('erases what the context has stored, on a page without a context too', async () => {
    const { site, start } = open();
    for (const key of ['analytics-outbox visitor', 'analytics-outbox session', 'visitor'])
      site.values.set(key, '{"id":"a"}');
    const analytics = start();
    analytics.init(DISABLED);
    deny(analytics);
    await pass(1_000);
    expect([...site.values.keys()].sort()).toEqual([KEY, TIME, 'visitor']);
  });

  it('passes over keys of other scripts that do not decode', async () => {
    const { site, start } = open();
    site.values.set('analytics-outbox %E0%A4%A consent', 'granted');
    site.values.set(KEY, 'granted');
    deny(start());
    await pass(100);
    expect(site.values.get(KEY)).toBe('refused');
  });

  it.each(['before', 'after'])(
    'counts for all that is stored, %s an `init` that names no project',
    async (when) => {
      const { site, start } = await openUsedSite();
      const analytics = start();
      if (when === 'before') deny(analytics);
      analytics.init({ disabled: true });
      if (when === 'after') deny(analytics);
      await pass(1_000);
      expect((await site.traces()).filter((trace) => !/consent( at)?$/.test(trace))).toEqual([]);
      const words = [...site.values].filter(([key]) => key.endsWith('consent'));
      expect(new Set(words.map(([, word]) => word))).toEqual(new Set(['refused']));
    },
  );
});

describe('a grant after a denial', () => {
  /** A site where a denial was stored, and the page was left before anything was erased. */
  const openDeniedSite = async () => {
    const shop = await openUsedSite();
    shop.site.values.set(KEY, 'refused');
    return shop;
  };
  const AFTER = [['after', undefined]];

  it.each(['before', 'after'])('said %s `init` sends nothing from before', async (when) => {
    const { start, site, own, got } = await openDeniedSite();
    const analytics = start();
    if (when === 'before') analytics.setConsent('granted');
    analytics.init(DIRECT);
    if (when === 'after') analytics.setConsent('granted');
    analytics.event('after');
    await pass(5_000);
    expect(got()).toEqual(AFTER);
    expect(site.values.get(KEY)).toBe('granted');
    expect((await own()).join()).not.toContain('before');
  });

  it('counts for the next page, which erases what this one could not', async () => {
    const { start, leave, visit, got } = await openDeniedSite();
    const first = start();
    first.setConsent('granted');
    first.init({ ...DISABLED });
    await leave();
    visit().track(['after']);
    await pass(5_000);
    expect(got()).toEqual(AFTER);
  });

  const blocked = () => {
    throw new Error('blocked');
  };
  const never = () => new Promise<never>(() => undefined);

  it.each<[string, object | undefined]>([
    ['is missing', undefined],
    ['is blocked', { open: blocked, databases: blocked }],
    ['hangs', { open: () => ({}), databases: never }],
  ])('is followed where IndexedDB %s', async (_, indexedDB) => {
    const { visit, got } = open();
    vi.stubGlobal('indexedDB', indexedDB);
    const { analytics, track } = visit();
    analytics.identify('user_1');
    deny(analytics);
    analytics.setConsent('granted');
    track(['after']);
    await passUntil(() => got().length);
    expect(got()).toEqual(AFTER);
    expect(analytics.status().storage).toBe('memory');
  });

  it('goes on from memory while erasing fails, and uses the database once all is erased', async () => {
    const { site, visit, own, service } = await openDeniedSite();
    const { open } = site.databases;
    // The database of an address that the page does not use cannot be erased.
    const openSome = (name: string, version?: number) =>
      name.includes('former') ? blocked() : open.call(site.databases, name, version);
    const all = await site.databases.databases();
    const databases = async () => [...all].reverse(); // so that it comes before the page's own
    Object.assign(site.databases, { open: openSome, databases });
    const { analytics, track } = visit();
    analytics.setConsent('granted');
    track(['first']);
    await passUntil(() => analytics.status().delivered === 1);
    site.hide();
    site.show();
    track(['second']);
    await passUntil(() => analytics.status().delivered === 2);
    expect(analytics.status().storage).toBe('memory');
    expect(site.values.get(KEY)).not.toBe('granted');
    Object.assign(site.databases, { open });
    await passUntil(() => analytics.status().storage === 'indexeddb', 60_000);
    expect(site.values.get(KEY)).toBe('granted');
    await passUntil(() => analytics.status().elsewhere === 0, 60_000);
    expect(service.names()).toEqual(['first', 'second']);
    expect((await own()).join()).not.toContain('before');
  });

  it('counts at once if this page has erased all: a call of the same task is handed off', async () => {
    const { site, visit, service, own } = await openDeniedSite();
    const { analytics, track } = visit();
    await pass(1_000);
    expect(await own()).toEqual([KEY]);
    analytics.setConsent('granted');
    track(['Accepted']);
    site.hide();
    expect(service.of('Accepted')).toHaveLength(1);
  });

  it('erases once more if another page has stored since', async () => {
    const { site, visit, service } = await openDeniedSite();
    const { analytics } = visit();
    await pass(1_000);
    const asked = service.requests.length;
    // Another page is granted consent, stores a record, and denies it as it is left.
    site.values.delete(KEY);
    site.say(site.win, 'storage');
    site.values.set(KEY, 'refused');
    site.say(site.win, 'storage');
    analytics.setConsent('granted');
    expect(analytics.status().storage).toBe('none');
    expect(service.requests).toHaveLength(asked);
  });

  it('of another page leaves what that has stored since, though this one erases late', async () => {
    const { site, visit, own } = await openUsedSite();
    const { analytics } = visit();
    const { databases: names } = site.databases;
    let go: () => void = () => undefined;
    const late = new Promise<void>((done) => (go = done));
    const slow = async () => (await late, names.call(site.databases));
    Object.assign(site.databases, { databases: slow });
    deny(analytics);
    // Another page hears of the denial, has erased all, and is granted consent.
    site.values.set(KEY, 'granted');
    go();
    await pass(1_000);
    expect((await own()).join()).toContain('before');
  });

  it('does not wait for a page that holds the database open', async () => {
    const { site, visit, got } = await openDeniedSite();
    const held = site.databases.open(NAME);
    await new Promise((done) => (held.onsuccess = done));
    const { analytics, track } = visit();
    analytics.setConsent('granted');
    track(['after']);
    await pass(5_000);
    expect(got()).toEqual(AFTER);
    held.result.close();
  });
});
