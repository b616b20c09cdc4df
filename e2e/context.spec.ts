import type { Page } from '@playwright/test';
import { contextPage, openReady } from './support/context-page.js';
import { lastShown, tellsLastShown } from './support/last-shown.js';
import { BARE } from './support/leave.js';
import { setupOf } from './support/setup-of.js';
import { expect, test } from './support/test.js';
import { NO_TRACE, traces } from './support/traces.js';
import { track } from './support/track.js';

const ALL = `combine(analytics, page(), campaign(), device(), session('persistent'), anonymousId('persistent'))`;

const setConsent = (page: Page, consent: 'granted' | 'denied') =>
  page.evaluate((consent) => analytics.setConsent(consent), consent);

/** Sets the clock of the page forward. */
const wait = (page: Page, minutes: number) =>
  page.evaluate((ms) => {
    const { now } = Date;
    Date.now = () => now() + ms;
  }, minutes * 60_000);

test('page, campaign and device give their tags; the campaign stays in the tab @smoke', async ({
  page,
  guest,
  service,
  site,
}) => {
  const parts = `combine(analytics, page(), campaign(), device())`;
  const address = contextPage({ guest, site }, setupOf(service), { parts });
  await openReady(page, `${address}?utm_source=news&gclid=g1&secret=1`);
  await track(page, ['one']);
  await openReady(page, address);
  await track(page, ['two']);
  await openReady(page, `${address}?utm_source=ads`);
  await track(page, ['three']);
  await service.holds({ events: ['one', 'two', 'three'] }, { pages: [page] });
  const { width, language } = await page.evaluate(() => ({
    width: innerWidth,
    language: navigator.language,
  }));
  const here = { path: '/', title: 'A page', device: 'desktop', width, language };
  const first = { first_utm_source: 'news', first_gclid: 'g1' };
  const tags = (await service.events()).map(({ event, tags }) => [event, tags] as const);
  expect(Object.fromEntries(tags)).toEqual({
    one: { ...here, ...first, utm_source: 'news', gclid: 'g1' },
    two: { ...here, ...first, utm_source: 'news', gclid: 'g1' },
    three: { ...here, ...first, utm_source: 'ads' },
  });
  const { local, session } = await traces(page);
  expect(Object.keys(session)).toEqual(['analytics-outbox campaign']);
  expect(Object.keys(local).filter((key) => /campaign|session|visitor/.test(key))).toEqual([]);
});

test('a session lasts over pages, and ends after half an hour without an event', async ({
  page,
  guest,
  service,
  site,
}) => {
  const parts = `combine(analytics, session())`;
  const address = contextPage({ guest, site }, setupOf(service), { parts, isTwice: true });
  await openReady(page, address);
  await track(page, ['one']);
  await openReady(page, address);
  await track(page, ['two']);
  await wait(page, 29);
  await track(page, ['three']);
  await wait(page, 31);
  await track(page, ['four']);
  await service.holds({ events: ['one', 'two', 'three', 'four'] }, { pages: [page] });
  const rows = await service.events();
  const tags = ['one', 'two', 'three', 'four'].map(
    (name) =>
      rows.find(({ event }) => event === name)!.tags as {
        session_id: string;
        session_number: number;
      },
  );
  expect(tags.map(({ session_number }) => session_number)).toEqual([1, 1, 1, 2]);
  const ids = tags.map(({ session_id }) => session_id);
  expect(new Set(ids.slice(0, 3)).size).toBe(1);
  expect(new Set(ids).size).toBe(2);
});

test('an anonymous id is tied to the user by one event, and is another after a reset', async ({
  page,
  guest,
  service,
  site,
}) => {
  const parts = `combine(analytics, anonymousId('persistent'))`;
  const address = contextPage({ guest, site }, setupOf(service), { parts, isTwice: true });
  await openReady(page, address);
  await track(page, ['one']);
  await page.evaluate(() => analytics.identify('user_1'));
  await openReady(page, address);
  await page.evaluate(() => analytics.identify('user_1'));
  await track(page, ['two']);
  await page.evaluate(() => analytics.reset());
  await track(page, ['three']);
  await service.holds(
    { events: ['one', 'Identified', 'two', 'three'], identifies: ['user_1', 'user_1'] },
    { pages: [page] },
  );
  const rows = await service.events();
  const idOf = (event: string) => rows.find((row) => row.event === event)!.tags['anonymous_id'];
  expect(rows.map(({ event, user_id }) => [event, user_id]).sort()).toEqual([
    ['Identified', 'user_1'],
    ['one', null],
    ['three', null],
    ['two', 'user_1'],
  ]);
  expect(idOf('one')).toMatch(/^[a-z0-9]{15,}$/);
  expect([idOf('Identified'), idOf('two')]).toEqual([idOf('one'), idOf('one')]);
  expect(idOf('three')).toMatch(/^[a-z0-9]{15,}$/);
  expect(idOf('three')).not.toBe(idOf('one'));
});

/** Makes so many events, with pauses as short as a busy page has: other tabs' changes of storage come between. */
const beBusy = (page: Page, events: number) =>
  page.evaluate(async (events) => {
    for (let event = 0; event < events; event++) {
      analytics.event('busy');
      await new Promise((done) => setTimeout(done, Math.random() * 8));
    }
  }, events);

test('busy tabs share one anonymous id and one session', async ({
  context,
  guest,
  service,
  site,
}) => {
  const parts = `combine(analytics, session('persistent'), anonymousId('persistent'))`;
  const address = contextPage({ guest, site }, setupOf(service), { parts });
  const first = await context.newPage();
  await openReady(first, address);
  await track(first, ['first']);
  const tabs = await Promise.all([1, 2, 3].map(() => context.newPage()));
  await Promise.all(tabs.map((tab) => openReady(tab, address)));
  const events = 150;
  await Promise.all(tabs.map((tab) => beBusy(tab, events)));
  await service.holds({ events: ['first', ...Array<string>(3 * events).fill('busy')] });
  const tags = (await service.events()).map(({ tags }) => tags);
  const different = (tag: string) => new Set(tags.map((one) => one[tag])).size;
  expect(['anonymous_id', 'session_id', 'session_number'].map(different)).toEqual([1, 1, 1]);
});

test('tabs that are opened at once keep the id that is stored', async ({
  context,
  guest,
  service,
  site,
}) => {
  const parts = `combine(analytics, session('persistent'), anonymousId('persistent'))`;
  const address = contextPage({ guest, site }, setupOf(service), { parts });
  const first = await context.newPage();
  await openReady(first, address);
  await track(first, ['opened']);
  const rounds = 2;
  for (let round = 0; round < rounds; round++) {
    const tabs = await Promise.all([1, 2, 3, 4, 5, 6].map(() => context.newPage()));
    await Promise.all(
      tabs.map(async (tab) => {
        await openReady(tab, address);
        await beBusy(tab, 20);
      }),
    );
    await Promise.all(tabs.map((tab) => tab.evaluate(() => analytics.flush())));
    await Promise.all(tabs.map((tab) => tab.close()));
  }
  const made = Array<string>(rounds * 6 * 20).fill('busy');
  await service.holds({ events: ['opened', ...made] });
  const tags = (await service.events()).map(({ tags }) => tags);
  const different = (tag: string) => new Set(tags.map((one) => one[tag])).size;
  expect(['anonymous_id', 'session_id'].map(different)).toEqual([1, 1]);
});

test('an anonymous id is the user of events that have none, if the site says so', async ({
  page,
  guest,
  service,
  site,
}) => {
  const parts = `context: combine(analytics, anonymousId('tab')), beforeSend: anonymousUser`;
  await openReady(page, contextPage({ guest, site }, setupOf(service), { parts }));
  await track(page, ['one']);
  await page.evaluate(() => analytics.identify('user_1'));
  await track(page, ['two']);
  await service.holds(
    { events: ['one', 'Identified', 'two'], identifies: ['user_1'] },
    { pages: [page] },
  );
  const rows = await service.events();
  const rowOf = (event: string) => rows.find((row) => row.event === event)!;
  const id = rowOf('one').user_id;
  expect(id).toMatch(/^[a-z0-9]{15,}$/);
  expect(rowOf('one').tags).toEqual({});
  for (const event of ['Identified', 'two']) {
    expect(rowOf(event)).toMatchObject({ user_id: 'user_1', tags: { anonymous_id: id } });
  }
});

test('a page that comes back from the back/forward cache goes on with its ids, once', async ({
  bfcache,
  guest,
  service,
  site,
}) => {
  const page = await (await bfcache.open()).newPage();
  const parts = `combine(analytics, session(), anonymousId('tab'))`;
  const setUp = { parts, head: tellsLastShown, isTwice: true };
  await openReady(page, contextPage({ guest, site }, setupOf(service), setUp));
  await page.evaluate(() => analytics.identify('user_1'));
  await track(page, ['one']);
  await service.holds({ events: ['Identified', 'one'] }, { pages: [page] });
  await page.goto(site.page('/bare', BARE));
  await bfcache.back(page);
  await expect.poll(() => lastShown(page)).toBe('restored');
  await page.evaluate(() => analytics.identify('user_1'));
  await track(page, ['two']);
  await service.holds(
    { events: ['Identified', 'one', 'two'], identifies: ['user_1', 'user_1'] },
    { pages: [page] },
  );
  const tags = (await service.events()).map(({ tags }) => tags);
  for (const tag of ['anonymous_id', 'session_id', 'session_number']) {
    expect(new Set(tags.map((one) => one[tag])).size).toBe(1);
  }
});

test('nothing is stored or read before consent, and all of it goes with a denial', async ({
  page,
  guest,
  service,
  site,
}) => {
  guest.allowGlobals('readKeys');
  const head = `<script>{
    window.readKeys = [];
    for (const method of ['getItem', 'setItem', 'removeItem']) {
      const original = Storage.prototype[method];
      Storage.prototype[method] = function (key, ...rest) {
        window.readKeys.push(key);
        return original.call(this, key, ...rest);
      };
    }
  }</script>`;
  const options = { ...setupOf(service), consent: 'pending' };
  const address = contextPage({ guest, site }, options, { parts: ALL, head });
  await openReady(page, `${address}?utm_source=news`);
  await track(page, ['one']);
  await page.evaluate(() => analytics.identify('user_1'));
  await page.evaluate(() => analytics.flush());
  expect(await traces(page)).toEqual(NO_TRACE);
  const read = await page.evaluate(
    () => (globalThis as unknown as { readKeys: string[] }).readKeys,
  );
  // Only whether the visitor has said no before.
  expect(read.filter((key) => !key.endsWith(' p consent'))).toEqual([]);
  expect(await service.requests()).toEqual([]);

  await setConsent(page, 'granted');
  await service.holds({ events: ['one', 'Identified'], identifies: ['user_1'] }, { pages: [page] });
  const ours = async () => {
    const { local, session } = await traces(page);
    return [...Object.keys(local), ...Object.keys(session)].filter((key) =>
      /(campaign|session|visitor)$/.test(key),
    );
  };
  expect((await ours()).sort()).toEqual([
    'analytics-outbox campaign',
    'analytics-outbox session',
    'analytics-outbox visitor',
  ]);
  // What was called before has the ids that are stored now.
  await openReady(page, address);
  await setConsent(page, 'granted');
  await track(page, ['two']);
  await service.holds({ events: ['one', 'Identified', 'two'] }, { pages: [page] });
  const [one, , two] = await service.events();
  for (const tag of ['anonymous_id', 'session_id', 'utm_source']) {
    expect(two!.tags[tag]).toBe(one!.tags[tag]);
  }

  await setConsent(page, 'denied');
  expect(await ours()).toEqual([]);
  await track(page, ['denied']);
  expect(await ours()).toEqual([]);
});
