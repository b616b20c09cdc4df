import { describe, expect, it, vi } from 'vitest';
import type { Analytics, Consent } from '../../src/client/types.js';
import { pass, passUntil, settle } from '../support/clock.js';
import { names, openShop, startTracker, WAYS } from '../support/shop.js';
import { DIRECT, NAME, RELAY } from '../support/site.js';

const KEY = 'analytics-outbox shop consent';
type Shop = ReturnType<typeof openShop>;

const identifyAndTrack = ({ analytics }: { analytics: Analytics }) => {
  analytics.identify('user_1', { plan: 'pro' });
  for (const event of names(25)) analytics.event(event);
};
/** What the site keeps but its consent, and when that was said. */
const kept = async ({ site }: Shop) =>
  (await site.traces()).filter((trace) => !/ consent( at)?$/.test(trace));
/** The page's records are stored, and none is under way. */
const isStored = async (shop: Shop, event: string) => {
  for (let i = 0; i < 20; i++) {
    await pass(200);
    if ((await kept(shop)).join().includes(event)) return;
  }
  throw new Error(`${event} was not stored`);
};

describe.each(WAYS)('consent, %s', (way) => {
  it('that is pending lets nothing be stored or sent, and once given delivers what was called here', async () => {
    const shop = openShop(way);
    identifyAndTrack(shop.visit({ consent: 'pending' }));
    await pass(60_000);
    await shop.leave();
    const page = shop.visit({ consent: 'pending' });
    const called = new Date().toJSON();
    identifyAndTrack(page);
    expect(page.analytics.status()).toMatchObject({
      ...{ consent: 'pending', storage: 'none', paused: 'consent' },
      ...{ waiting: 26, userId: 'user_1' },
    });
    expect(await page.analytics.flush()).toMatchObject({ waiting: 26 });
    await pass(60_000);
    expect(await shop.site.traces()).toEqual([]);
    expect(shop.receiver.requests).toEqual([]);
    page.analytics.setConsent('granted');
    await shop.holds([...names(25), 'identify user_1']);
    for (const event of names(25))
      expect(shop.service.one(event)).toMatchObject({ user_id: 'user_1', timestamp: called });
    // The user is kept from now on.
    (await shop.next()).track(['next']);
    await passUntil(() => shop.service.has(['next']));
    expect(shop.service.one('next').user_id).toBe('user_1');
  });

  it('that is denied drops what waits, and clears what is stored', async () => {
    const shop = openShop(way);
    shop.offline();
    const page = shop.visit();
    const { analytics, heard, track } = page;
    identifyAndTrack(page);
    await isStored(shop, 'event 24');
    await passUntil(() => !analytics.status().inFlight);
    analytics.setConsent('denied');
    expect(analytics.status()).toMatchObject({ consent: 'denied', waiting: 0 });
    expect(analytics.status()).toMatchObject({ unknown: 0, dropped: { 'consent-denied': 26 } });
    expect(analytics.status().userId).toBeUndefined();
    track(['denied']);
    await pass(1_000);
    expect(await kept(shop)).toEqual([]);
    expect(shop.site.values.get(KEY)).toBe('refused');
    expect(heard.drop.map(({ reason }) => reason)).toEqual(Array(27).fill('consent-denied'));
    shop.online();
    (await shop.next()).track(['next']);
    await pass(60_000);
    expect(shop.service.requests).toEqual([]);
  });

  it('that is denied ends what is in flight', async () => {
    const { receiver, visit } = openShop(way);
    receiver.faults([{ hang: true }]);
    const { analytics, track } = visit();
    track(names(25));
    await passUntil(() => receiver.requests.length);
    await settle();
    const before = receiver.requests.length;
    analytics.setConsent('denied');
    receiver.faults([]);
    await pass(60_000);
    for (const { init } of receiver.requests) expect(init.signal!.aborted).toBe(true);
    expect(receiver.requests).toHaveLength(before);
  });

  it('that turns to pending keeps for later what is stored', async () => {
    const shop = openShop(way);
    shop.offline();
    const { analytics, track } = shop.visit();
    track(names(5));
    await isStored(shop, 'event 4');
    await passUntil(() => !analytics.status().inFlight);
    analytics.setConsent('pending');
    shop.online();
    track(['pending']);
    await analytics.flush();
    await pass(60_000);
    expect(shop.service.requests).toEqual([]);
    analytics.setConsent('granted');
    await shop.holds([...names(5), 'pending']);
  });

  it.each([false, true])(
    'that is denied is remembered until it is granted, where localStorage is full: %s',
    async (isFull) => {
      const shop = openShop(way);
      const { analytics, track } = shop.visit({ flushInterval: 60_000 });
      track(['before']);
      await passUntil(() => analytics.status().storage === 'indexeddb');
      await pass(100);
      if (isFull) shop.site.fill();
      analytics.setConsent('denied');
      for (let i = 0; i < 2; i++) {
        const page = await shop.next();
        page.track(names(25));
        await page.analytics.flush();
        expect(page.analytics.status()).toMatchObject({
          consent: 'denied',
          dropped: { 'consent-denied': 25 },
        });
        shop.site.empty();
      }
      await pass(10_000);
      expect(await kept(shop)).toEqual([]);
      expect(shop.receiver.requests).toEqual([]);
      const last = await shop.next();
      last.analytics.setConsent('granted');
      last.track(['granted']);
      await shop.holds(['granted']);
      (await shop.next()).track(['remembered']);
      await shop.holds(['granted', 'remembered']);
    },
  );
});

describe('two scripts on one page', () => {
  it.each([
    ['to one destination', DIRECT],
    ['one of them to a relay', RELAY],
  ])('have one consent, and so have instances made later, %s', async (_, options) => {
    const shop = openShop();
    shop.offline();
    const [one, two] = [shop.visit(), startTracker(options)];
    one.track(names(5));
    two.track(names(5, 'second'));
    await isStored(shop, 'second 4');
    await passUntil(() => !one.analytics.status().inFlight && !two.analytics.status().inFlight);
    one.analytics.setConsent('denied');
    expect(two.analytics.status()).toMatchObject({
      ...{ consent: 'denied', waiting: 0 },
      dropped: { 'consent-denied': 5 },
    });
    const others = [startTracker(options), startTracker({ ...options, consent: 'pending' })];
    for (const { analytics, track } of [two, ...others]) {
      track(['denied']);
      expect(analytics.status().consent).toBe('denied');
    }
    await pass(1_000);
    expect(await kept(shop)).toEqual([]);
    shop.online();
    const before = [shop.service, shop.relay].map(({ requests }) => requests.length);
    await Promise.all([two, ...others].map(({ analytics }) => analytics.flush()));
    await pass(10_000);
    expect([shop.service, shop.relay].map(({ requests }) => requests.length)).toEqual(before);
    expect(shop.service.names()).toEqual([]);
    for (const { analytics } of [two, ...others]) analytics.stop();
  });

  it('wait while consent is pending, and go on with it, whichever is told', async () => {
    const shop = openShop();
    const one = shop.visit({ consent: 'pending' });
    const two = shop.visit();
    one.track(['one']);
    two.track(['two']);
    expect(await two.analytics.flush()).toMatchObject({ waiting: 1 });
    await pass(10_000);
    expect(await shop.site.traces()).toEqual([]);
    two.analytics.setConsent('granted');
    await shop.holds(['one', 'two']);
    const later = shop.visit({ consent: 'pending' });
    expect(later.analytics.status().consent).toBe('granted');
    later.analytics.setConsent('pending');
    one.track(['three']);
    expect(one.analytics.status()).toMatchObject({ consent: 'pending', waiting: 1 });
    one.analytics.setConsent('granted');
    await shop.holds(['one', 'two', 'three']);
  });

  it('begin with what the first `init` of the page says, and take what a later one says only if it is stricter', () => {
    const shop = openShop();
    const said = (consent: Consent) => shop.visit({ consent }).analytics.status().consent;
    const words = ['granted', 'pending', 'granted'] as const;
    expect(words.map(said)).toEqual(['granted', 'pending', 'pending']);
    shop.visit().analytics.setConsent('granted');
    expect(said('pending')).toBe('granted');
  });

  it('have a consent each for two projects', async () => {
    const shop = openShop();
    const [one, two] = [shop.visit(), shop.visit({ project: 'other' })];
    one.analytics.setConsent('denied');
    one.track(['denied']);
    two.track(['granted']);
    await shop.holds(['granted']);
  });
});

describe('the user', () => {
  it.each([
    ['user_2', 'user_2'],
    // Where there is no room for the new name, nobody is known on the next page.
    ['somebody_with_a_longer_name', undefined],
  ])('is never a former one where localStorage is full: %s', async (user, next) => {
    const shop = openShop();
    const { analytics, track } = shop.visit();
    analytics.identify('user_1');
    await pass(5_000);
    shop.site.fill();
    analytics.identify(user);
    track(['here']);
    await passUntil(() => shop.service.has(['here']));
    (await shop.next()).track(['next']);
    await shop.holds(['identify user_1', `identify ${user}`, 'here', 'next']);
    expect(shop.service.one('here').user_id).toBe(user);
    expect(shop.service.one('next').user_id).toBe(next);
  });

  it('is known for as long as the page lives, though the site clears localStorage, or until a reset', async () => {
    const { site, service, visit } = openShop();
    const { analytics, track } = visit();
    analytics.identify('user_1');
    site.values.clear();
    track(['here']);
    await passUntil(() => service.has(['here']));
    expect(service.one('here').user_id).toBe('user_1');
    analytics.reset();
    site.values.clear();
    track(['nobody']);
    await passUntil(() => service.has(['nobody']));
    expect(service.one('nobody')).not.toHaveProperty('user_id');
  });
});

describe('a denial', () => {
  const sendsNothing = async (shop: Shop) => {
    await pass(60_000);
    expect(shop.service.requests).toEqual([]);
    expect(await kept(shop)).toEqual([]);
  };

  it.each(WAYS)('is no failure of the storage, %s', async (way) => {
    const { visit } = openShop(way);
    const { analytics, heard, track } = visit();
    track(['denied']);
    await passUntil(() => analytics.status().storage === 'indexeddb');
    analytics.setConsent('denied');
    await pass(60_000);
    expect(heard.storage.map(({ storage }) => storage)).toEqual(['indexeddb']);
    analytics.setConsent('granted');
    await passUntil(() => analytics.status().storage === 'indexeddb');
    expect(heard.storage.map(({ storage }) => storage)).not.toContain('memory');
  });

  it.each([undefined, 'granted'] as const)(
    'in another tab, made after `stop()`, counts for a later `init` with `consent: %s`',
    async (consent) => {
      const shop = openShop();
      const { analytics, track } = shop.visit();
      analytics.stop();
      shop.site.values.set(KEY, 'refused');
      analytics.init({ ...shop.options, ...(consent && { consent }) } as never);
      track(['denied']);
      expect(analytics.status()).toMatchObject({ consent: 'denied', storage: 'none' });
      await sendsNothing(shop);
      expect(shop.site.values.get(KEY)).toBe('refused');
    },
  );

  it('in another tab lasts for as long as the page, though the site clears its storage', async () => {
    const shop = openShop();
    const { analytics, track } = shop.visit();
    await pass(1_000);
    shop.site.values.set(KEY, 'refused');
    shop.site.say(shop.site.win, 'storage');
    expect(analytics.status().consent).toBe('denied');
    shop.site.values.clear();
    shop.site.say(shop.site.win, 'storage');
    track(['denied']);
    expect(analytics.status().consent).toBe('denied');
    await sendsNothing(shop);
  });

  const PLACES: Record<string, (deny: () => void) => object> = {
    beforeSend: (deny) => ({ beforeSend: (draft: unknown) => (deny(), draft) }),
    context: (deny) => ({ context: () => (deny(), {}) }),
    'a listener': () => ({}),
  };
  it.each(Object.entries(PLACES))('inside %s drops the record, too', async (place, optionsFor) => {
    const shop = openShop();
    const { analytics, heard, track } = shop.visitUnset();
    const deny = () => analytics.setConsent('denied');
    if (place === 'a listener') analytics.on('record', deny);
    analytics.init({ ...shop.options, ...optionsFor(deny) } as never);
    track(['denied inside']);
    expect(analytics.status()).toMatchObject({ consent: 'denied', waiting: 0 });
    expect(heard.drop.map(({ reason }) => reason)).toEqual(['consent-denied']);
    expect(heard.record).toHaveLength(place === 'a listener' ? 1 : 0);
    await sendsNothing(shop);
    await shop.next();
    await sendsNothing(shop);
  });

  const WAITS: Record<string, (analytics: Analytics, options: object) => void> = {
    'before the first `init`': () => undefined,
    'after `stop()`': (analytics, options) => (analytics.init(options as never), analytics.stop()),
    'after an `init` with `disabled`, and `stop()`': (analytics, options) => (
      analytics.init({ ...options, disabled: true } as never),
      analytics.stop()
    ),
  };
  it.each(Object.entries(WAITS))('empties what waits for `init`: %s', async (_, begin) => {
    const shop = openShop();
    const { analytics, heard, track } = shop.visitUnset();
    begin(analytics, shop.options);
    analytics.on('drop', (drop) => heard.drop.push(drop)); // `stop()` has taken the first ones away
    track(['before']);
    analytics.setConsent('denied');
    track(['denied']);
    analytics.setConsent('granted');
    track(['after']);
    analytics.init(shop.options);
    await shop.holds(['after']);
    const reasons = new Set(heard.drop.map(({ reason }) => reason));
    expect(reasons).toEqual(new Set(['consent-denied']));
  });

  it.each(['indexeddb', 'opening'])(
    'that a listener for `storage` makes, at "%s", is the last word',
    async (kind) => {
      const shop = openShop();
      const { analytics, heard, track } = shop.visit();
      analytics.on('storage', ({ storage }) => {
        if (storage === kind) analytics.setConsent('denied');
      });
      await pass(500);
      if (kind === 'opening') shop.site.databases.deleteDatabase(NAME); // and opens it anew
      await passUntil(() => heard.storage.some(({ storage }) => storage === kind));
      track(['denied']);
      expect(analytics.status()).toMatchObject({ consent: 'denied', storage: 'none', waiting: 0 });
      await analytics.flush();
      await sendsNothing(shop);
    },
  );

  it('that another page makes before a prerendered one is shown counts for that', async () => {
    const shop = openShop();
    Object.assign(shop.site.doc, { prerendering: true });
    const { analytics, track } = shop.visit();
    shop.site.values.set(KEY, 'refused');
    Object.assign(shop.site.doc, { prerendering: false });
    shop.site.say(shop.site.doc, 'prerenderingchange');
    track(['denied']);
    expect(analytics.status()).toMatchObject({ consent: 'denied', storage: 'none' });
    expect(shop.site.values.get(KEY)).toBe('refused');
    await sendsNothing(shop);
  });

  it('while a token is asked for leaves nothing behind when that fails', async () => {
    const shop = openShop();
    let fail: (error: Error) => void = () => undefined;
    const token = vi.fn(() => new Promise<string>((_, reject) => (fail = reject)));
    const { analytics, heard, track } = shop.visit({ token });
    track(['denied']);
    void analytics.flush();
    await passUntil(() => token.mock.calls.length);
    analytics.setConsent('denied');
    fail(new Error('no session'));
    await pass(1_000);
    expect([...shop.site.values.keys()]).toEqual([KEY, `${KEY} at`]);
    expect(heard.error).toEqual([]);
  });

  it('that was taken back does not come back with another destination', async () => {
    const shop = openShop();
    const first = shop.visit();
    first.track(['before']);
    await shop.holds(['before']);
    first.analytics.setConsent('denied');
    await shop.leave();
    const second = shop.visitUnset();
    second.analytics.init(RELAY);
    expect(second.analytics.status()).toMatchObject({ consent: 'denied' });
    second.analytics.setConsent('granted');
    const { analytics, track } = await shop.next();
    expect(analytics.status()).toMatchObject({ consent: 'granted' });
    track(['after']);
    await shop.holds(['before', 'after']);
  });
});

describe('Global Privacy Control', () => {
  const set = (isOn: boolean) => Object.assign(navigator, { globalPrivacyControl: isOn });

  it('lets nothing be stored or sent while it is on, whatever is said', async () => {
    const shop = openShop();
    set(true);
    const { analytics, track } = shop.visit({ respectGpc: true });
    track(['one']);
    analytics.setConsent('granted');
    track(['two']);
    await analytics.flush();
    expect(analytics.status()).toMatchObject({ consent: 'denied', storage: 'none' });
    expect(analytics.status().dropped).toEqual({ 'consent-denied': 2 });
    expect(await shop.site.traces()).toEqual([]);
    await shop.leave();
    set(false);
    shop.visit({ respectGpc: true }).track(['after']);
    await shop.holds(['after']);
  });

  it.each<[string, (shop: Shop) => unknown]>([
    ['when the page comes back', ({ site }) => site.say(site.doc, 'resume')],
    ['on the next page', (shop) => shop.next({ respectGpc: true })],
  ])('deletes what is stored, %s, and ends as it ends', async (_, look) => {
    const shop = openShop();
    shop.service.faults([{ status: 503 }]);
    const first = shop.visit({ respectGpc: true });
    first.analytics.identify('user_1');
    first.track(names(5));
    await isStored(shop, 'event 4');
    await passUntil(() => !first.analytics.status().inFlight);
    set(true);
    await look(shop);
    await pass(5_000);
    expect(await shop.site.traces()).toEqual([]);
    shop.service.faults([]);
    set(false);
    const { track } = await shop.next({ respectGpc: true });
    track(['after']);
    await shop.holds(['after']);
    expect(shop.service.one('after')).not.toHaveProperty('user_id');
  });

  it.each([0, 1])(
    'counts for all instances of the project where one respects it, which is number %i',
    async (respects) => {
      const shop = openShop();
      set(true);
      const visits = [0, 1].map((i) => shop.visit({ respectGpc: i === respects }));
      await pass(1_000);
      for (const { analytics, track } of visits) {
        track(['denied']);
        expect(analytics.status()).toMatchObject({ consent: 'denied', waiting: 0 });
      }
      await pass(10_000);
      expect(shop.service.requests).toEqual([]);
    },
  );

  it.each<[Consent, boolean]>([
    ['denied', true],
    ['granted', false],
  ])('leaves the visitor’s own word to later pages: %s', async (consent, isDenied) => {
    const shop = openShop();
    set(true);
    shop.visit({ respectGpc: true }).analytics.setConsent(consent);
    await shop.leave();
    set(false);
    shop.visit({ respectGpc: true }).track(['one']);
    await shop.holds(isDenied ? [] : ['one']);
  });

  it('counts with the option alone, also if a later `init` has it', async () => {
    const { visit, options, holds } = openShop();
    set(true);
    const { analytics, track } = visit();
    track(['before']);
    await holds(['before']);
    analytics.init({ ...options, respectGpc: true });
    track(['denied']);
    expect(analytics.status()).toMatchObject({ consent: 'denied' });
    await holds(['before']);
  });
});
