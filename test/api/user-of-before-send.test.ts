import { describe, expect, it } from 'vitest';
import type { Analytics, Draft } from '../../src/client/types.js';
import { NAME } from '../support/site.js';
import { openShop } from '../support/shop.js';

const hash = (id: string) => `hash of ${id}`;
/** Maps the ids of these records, as a site does whose service is to have no id of its own. */
const mapping =
  (isMapped: (draft: Draft) => boolean) =>
  (draft: Draft): Draft => {
    if (draft.body.user_id && isMapped(draft)) draft.body.user_id = hash(draft.body.user_id);
    return draft;
  };
const mapsEach = mapping(() => true);
const mapsIdentifies = mapping(({ type }) => type === 'identify');

/** What the page itself can see or finds in storage of who the user is. */
const known = ({ site }: ReturnType<typeof openShop>, { status }: Analytics) => [
  status().userId,
  site.values.get(`${NAME} user`),
];

describe.each([
  ['every record', mapsEach],
  ['identifies alone', mapsIdentifies],
])('the user is what `beforeSend` has made of it, where that maps %s', (_, beforeSend) => {
  it('on this page, in other tabs and on the next page, and each id is mapped once', async () => {
    const shop = openShop();
    const { analytics, track } = shop.visit({ beforeSend });
    const other = shop.visit({ beforeSend });
    analytics.identify('user_1');
    track(['here']);
    other.track(['in another tab']);
    expect(known(shop, analytics)).toEqual([hash('user_1'), hash('user_1')]);
    expect(known(shop, other.analytics)).toEqual(known(shop, analytics));
    const next = await shop.next({ beforeSend });
    next.track(['next']);
    // As adapters do that add a property to who the user is.
    next.analytics.identify(next.analytics.status().userId!, { plan: 'pro' });
    next.track(['last']);
    await shop.holds([
      ...[hash('user_1'), hash('user_1')].map((id) => `identify ${id}`),
      ...['here', 'in another tab', 'next', 'last'],
    ]);
    for (const name of ['here', 'in another tab', 'next', 'last'])
      expect(shop.service.one(name).user_id).toBe(hash('user_1'));
    expect([...shop.site.values.values()]).not.toContain('user_1');
    expect((await shop.site.traces()).join()).not.toMatch(/"user_1"/);
  });

  it('also of a user who has gone since, as of an event of the view before', async () => {
    const shop = openShop();
    const { analytics } = shop.visit({ beforeSend });
    analytics.identify('user_1');
    const userId = analytics.status().userId!;
    analytics.reset();
    analytics.event('Page Left', { userId });
    analytics.identify('user_2');
    analytics.event('Page Left Again', { userId });
    await shop.holds([
      ...['user_1', 'user_2'].map((id) => `identify ${hash(id)}`),
      ...['Page Left', 'Page Left Again'],
    ]);
    for (const name of ['Page Left', 'Page Left Again'])
      expect(shop.service.one(name).user_id).toBe(hash('user_1'));
  });

  it('after a reset in the same moment, and no more after another one', async () => {
    const shop = openShop();
    const { analytics } = shop.visit({ beforeSend });
    analytics.reset();
    analytics.identify('user_1');
    expect(known(shop, analytics)).toEqual([hash('user_1'), hash('user_1')]);
    analytics.reset();
    expect(known(shop, analytics)).toEqual([undefined, '']);
    analytics.identify('user_1');
    const { analytics: next } = await shop.next({ beforeSend });
    expect(known(shop, next)).toEqual([hash('user_1'), hash('user_1')]);
  });
});

it.each([
  ['there was none', undefined],
  ['it mapped ids', (draft: Draft) => draft],
])('maps what the call gives, and what was stored before %s', async (_, former) => {
  const shop = openShop();
  const first = shop.visit(former && { beforeSend: former });
  first.analytics.identify('user_1');
  const { analytics, track } = await shop.next({ beforeSend: mapsEach });
  track(['before']);
  analytics.identify('user_1');
  track(['after']);
  analytics.event('of another', { userId: 'user_2' });
  await shop.holds([
    ...['user_1', hash('user_1')].map((id) => `identify ${id}`),
    ...['before', 'after', 'of another'],
  ]);
  for (const name of ['before', 'after'])
    expect(shop.service.one(name).user_id).toBe(hash('user_1'));
  expect(shop.service.one('of another').user_id).toBe(hash('user_2'));
  expect(known(shop, analytics)).toEqual([hash('user_1'), hash('user_1')]);
});

it('has no user whose id `beforeSend` takes away, and the former one where it drops the record', async () => {
  const shop = openShop();
  const beforeSend = (draft: Draft): Draft | null => {
    const { user_id } = draft.body;
    if (user_id === 'dropped') return null;
    if (user_id === 'secret' || (draft.type === 'event' && draft.body.event === 'of nobody'))
      delete (draft.body as { user_id?: string }).user_id;
    return draft;
  };
  const { analytics, track } = shop.visit({ beforeSend });
  analytics.identify('user_1');
  analytics.identify('dropped');
  track(['of user_1', 'of nobody']);
  expect(known(shop, analytics)).toEqual(['user_1', 'user_1']);
  analytics.identify('secret');
  track(['after']);
  expect(known(shop, analytics)).toEqual([undefined, '']);
  await shop.holds([
    ...['user_1', 'undefined'].map((id) => `identify ${id}`),
    ...['of user_1', 'of nobody', 'after'],
  ]);
  expect(shop.service.one('of user_1').user_id).toBe('user_1');
  for (const name of ['of nobody', 'after'])
    expect(shop.service.one(name)).not.toHaveProperty('user_id');
});
