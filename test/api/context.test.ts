import { expect, it, vi } from 'vitest';
import { anonymousId, anonymousUser, combine, session } from '../../src/context.js';
import { pass, passUntil } from '../support/clock.js';
import { createLocalStorage } from '../support/local-storage.js';
import { openShop } from '../support/shop.js';

const MINUTE_MS = 60_000;
type Part = Parameters<typeof combine>[1];

/** A shop whose pages have a context of these parts. They set it up twice, as components do in React's StrictMode. */
const openWith = (parts: () => Part[], options = {}) => {
  const shop = openShop();
  const inTab = new Map<string, string>();
  vi.stubGlobal('sessionStorage', createLocalStorage(inTab));
  const open = async () => {
    await shop.leave();
    const page = shop.visitUnset();
    for (let i = 0; i < 2; i++) {
      const context = combine(page.analytics, ...parts());
      page.analytics.init({ ...shop.options, context, ...options } as never);
    }
    return page;
  };
  const tagsOf = (event: string) => shop.service.one(event)['tags'] as Record<string, unknown>;
  return { ...shop, inTab, open, tagsOf };
};

it('a session lasts over pages, and ends after half an hour without an event', async () => {
  const { open, tagsOf, holds } = openWith(() => [session()]);
  (await open()).track(['one']);
  await pass(5_000);
  const { track } = await open();
  track(['two']);
  await pass(29 * MINUTE_MS);
  track(['three']);
  await pass(31 * MINUTE_MS);
  track(['four']);
  await holds(['one', 'two', 'three', 'four']);
  const tags = ['one', 'two', 'three', 'four'].map(tagsOf);
  expect(tags.map((one) => one['session_number'])).toEqual([1, 1, 1, 2]);
  expect(new Set(tags.slice(0, 3).map((one) => one['session_id'])).size).toBe(1);
  expect(new Set(tags.map((one) => one['session_id'])).size).toBe(2);
});

it('an anonymous id is tied to the user by one event, and is another after a reset', async () => {
  const { open, tagsOf, service, holds } = openWith(() => [anonymousId('persistent')]);
  const first = await open();
  first.track(['one']);
  first.analytics.identify('user_1');
  await passUntil(() => service.has(['Identified']));
  const { analytics, track } = await open();
  analytics.identify('user_1');
  track(['two']);
  analytics.reset();
  track(['three']);
  await holds(['one', 'Identified', 'two', 'three', 'identify user_1', 'identify user_1']);
  const events = ['one', 'Identified', 'two', 'three'];
  expect(events.map((event) => service.one(event).user_id)).toEqual([
    ...[undefined, 'user_1', 'user_1', undefined],
  ]);
  const [one, identified, two, three] = events.map((event) => tagsOf(event)['anonymous_id']);
  expect(one).toMatch(/^[a-z0-9]{15,}$/);
  expect([identified, two]).toEqual([one, one]);
  expect(three).toMatch(/^[a-z0-9]{15,}$/);
  expect(three).not.toBe(one);
});

it('an anonymous id is the user of events that have none, if the site says so', async () => {
  const parts = () => [anonymousId('tab')];
  const { open, service, holds } = openWith(parts, { beforeSend: anonymousUser });
  const { analytics, track } = await open();
  track(['one']);
  analytics.identify('user_1');
  track(['two']);
  await holds(['one', 'Identified', 'two', 'identify user_1']);
  const { user_id: id, tags } = service.one('one') as { user_id?: string; tags?: object };
  expect(id).toMatch(/^[a-z0-9]{15,}$/);
  expect(tags).toEqual({});
  for (const event of ['Identified', 'two'])
    expect(service.one(event)).toMatchObject({ user_id: 'user_1', tags: { anonymous_id: id } });
});

it('nothing is stored or read before consent, and all of it goes with a denial', async () => {
  const parts = () => [session('persistent'), anonymousId('persistent')];
  const { open, tagsOf, site, inTab, service, holds } = openWith(parts, { consent: 'pending' });
  const read = vi.spyOn(site.values, 'get');
  const first = await open();
  first.track(['one']);
  first.analytics.identify('user_1');
  await first.analytics.flush();
  expect(await site.traces()).toEqual([]);
  expect([...inTab]).toEqual([]);
  // Only whether the visitor has said no before.
  const keys = new Set(read.mock.calls.map(([key]) => key));
  expect([...keys].filter((key) => !/shop consent( at)?$/.test(key))).toEqual([]);
  expect(service.requests).toEqual([]);

  first.analytics.setConsent('granted');
  await holds(['one', 'Identified', 'identify user_1']);
  const ours = () => [...site.values.keys()].filter((key) => /(session|visitor)$/.test(key));
  expect(ours().toSorted()).toEqual(['analytics-outbox session', 'analytics-outbox visitor']);
  // What was called before has the ids that are stored now.
  const { analytics, track } = await open();
  analytics.setConsent('granted');
  track(['two']);
  await holds(['one', 'Identified', 'identify user_1', 'two']);
  for (const tag of ['anonymous_id', 'session_id'])
    expect(tagsOf('two')[tag]).toBe(tagsOf('one')[tag]);

  analytics.setConsent('denied');
  expect(ours()).toEqual([]);
  track(['denied']);
  await pass(5_000);
  expect(ours()).toEqual([]);
});
