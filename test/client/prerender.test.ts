import { expect, it } from 'vitest';
import type { Analytics, Options } from '../../src/client/types.js';
import { pass, settle } from '../support/clock.js';
import { DIRECT, NAME } from '../support/site.js';
import { openTab } from '../support/tab.js';

const KEY = 'analytics-outbox shop consent';
/** When the page that is shown has last said something, by its clock. */
const AT = 1_000;
const keptAt = (at: number, ...calls: unknown[][]) =>
  JSON.stringify(calls.map(([method, ...args]) => [at, method, args, null, 'T', '/']));

/** What a site has outside of the memory of a prerendered page, with a word of each kind. */
const openPrerendered = async (attributes: Record<string, string> = {}) => {
  const tab = openTab();
  const { site, kept } = tab;
  for (const [key, value] of Object.entries({
    [`${NAME} user`]: 'user_1',
    [`${NAME} user at`]: `${AT}`,
    [`${NAME} gate`]: JSON.stringify({ since: Date.now() - 1_000, until: Date.now() + 60_000 }),
    [`${NAME} consent`]: 'granted',
    [KEY]: 'granted',
    'analytics-outbox visitor': '{"id":"a"}',
  }))
    site.values.set(key, value);
  kept[`${Date.now()}analyticsshop`] = keptAt(Date.now(), ['event', 'Kept']);
  await pass(10);
  const stub = await tab.open(attributes);
  Object.assign(site.doc, { prerendering: true, visibilityState: 'hidden' });
  /** Not sessionStorage, of which its page has a copy. */
  const outside = async () => [
    [...site.values],
    (await site.traces()).filter((trace) => trace.includes('{')),
    tab.service.requests.length,
  ];
  const show = async () => {
    Object.assign(site.doc, { prerendering: false, visibilityState: 'visible' });
    site.say(site.doc, 'prerenderingchange');
    site.show();
    await settle();
  };
  return { ...tab, stub, outside, show };
};

const CALLS: Record<string, (analytics: Analytics) => unknown> = {
  nothing: () => undefined,
  'an event, flushed': (analytics) => (analytics.event('Of the page'), analytics.flush()),
  'an identify': (analytics) => analytics.identify('user_2'),
  'a reset': (analytics) => analytics.reset(),
  'a denial': (analytics) => analytics.setConsent('denied'),
  'a denial that is taken back': (analytics) => (
    analytics.setConsent('denied'),
    analytics.setConsent('granted')
  ),
  'pending consent': (analytics) => analytics.setConsent('pending'),
  'another `init`': (analytics) => analytics.init({ ...DIRECT, channel: 'other' } as Options),
  'an `init` that denies': (analytics) =>
    analytics.init({ ...DIRECT, disabled: true, consent: 'denied' } as Options),
  'a `stop()`': (analytics) => analytics.stop(),
};

it.each(Object.entries(CALLS))(
  'changes nothing outside of the memory of a prerendered page: %s',
  async (_, call) => {
    const { install, outside, stub, site } = await openPrerendered();
    const before = await outside();
    void call(stub);
    const analytics = install();
    void call(analytics);
    await pass(5_000);
    site.say(site.win, 'storage');
    site.say(site.win, 'pagehide');
    await pass(5_000);
    expect(await outside()).toEqual(before);
  },
);

it('changes nothing where a stored denial, or Global Privacy Control, counts for a prerendered page', async () => {
  const { install, outside, site } = await openPrerendered({ respectGpc: '' });
  Object.assign(navigator, { globalPrivacyControl: true });
  site.values.set(KEY, 'refused');
  const before = await outside();
  const analytics = install();
  analytics.event('Denied');
  await pass(5_000);
  expect(analytics.status()).toMatchObject({ consent: 'denied', storage: 'none' });
  expect(await outside()).toEqual(before);
});

it('makes kept calls once it is shown, if they are still there then', async () => {
  const { install, show, holds, kept, site } = await openPrerendered();
  site.values.delete(`${NAME} gate`);
  install().event('Of the page');
  await pass(1_000);
  await show();
  await holds(['Kept', 'Of the page']);
  expect(kept).toEqual({});
});

it('makes no kept calls that the page before it has made', async () => {
  const { install, show, holds, kept, site } = await openPrerendered();
  site.values.delete(`${NAME} gate`);
  install().event('Of the page');
  // As it is shown, the browser gives it the storage of its tab in the place of the copy.
  for (const key of Object.keys(kept)) delete kept[key];
  await show();
  await holds(['Of the page']);
});

it.each<[string, (analytics: Analytics) => void, string]>([
  ['identify', ({ identify }) => identify('user_2'), 'user_3'],
  ['reset', ({ reset }) => reset(), 'user_3'],
])(
  'an older %s of it does not win over the user of a page that is shown',
  async (_, call, user) => {
    const { install, show, site } = await openPrerendered();
    const analytics = install();
    call(analytics);
    await pass(1_000);
    site.values.set(`${NAME} user`, user);
    site.values.set(`${NAME} user at`, `${Date.now()}`);
    await pass(1_000);
    await show();
    expect(analytics.status().userId).toBe(user);
    expect(site.values.get(`${NAME} user`)).toBe(user);
  },
);

it('an older grant of it does not win over a denial of a page that is shown', async () => {
  const { install, show, site } = await openPrerendered();
  const analytics = install();
  analytics.setConsent('granted');
  await pass(1_000);
  site.values.set(KEY, 'refused');
  site.values.set(`${KEY} at`, `${Date.now()}`);
  await pass(1_000);
  await show();
  expect(analytics.status().consent).toBe('denied');
  expect(site.values.get(KEY)).toBe('refused');
});

it('a denial of it counts once it is shown', async () => {
  const { install, show, site, service } = await openPrerendered();
  const analytics = install();
  analytics.event('Before');
  analytics.setConsent('denied');
  expect(analytics.status().consent).toBe('denied');
  await show();
  await pass(10_000);
  expect(site.values.get(KEY)).toBe('refused');
  expect(site.values.has(`${NAME} user`)).toBe(false);
  expect(service.requests).toEqual([]);
});
