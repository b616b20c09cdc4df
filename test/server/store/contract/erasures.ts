import { describe, expect, vi } from 'vitest';
import type { Store } from '../../../../src/server/store/port.js';
import {
  ALL,
  at,
  event,
  idsOf,
  identify,
  refusal,
  refusedOf,
  rowsOf,
  scenarioOf,
  times,
  type Part,
} from './scenario.js';

const HOUR_MS = 3_600_000;
const erasuresOf = (store: Store) => store.progress.erasures(0, 100);
const rowsOfUser = (store: Store, user_id: string) => store.rows({ user_id }, ALL);

/** Erases a user with many rows, and closes the store when some of them are deleted. */
const breakOff = async (store: Store, other: Store, rows: number): Promise<void> => {
  await store.write(times(rows, () => event({ user_id: 'gone' })));
  const erased = store.erase({ project: 'p', user_id: 'gone' });
  const broken = expect(erased).rejects.toThrow('the store was closed');
  while ((await rowsOfUser(other, 'gone')).length === rows) await new Promise(setImmediate);
  await store.close();
  await broken;
  expect(await rowsOfUser(other, 'gone')).not.toEqual([]);
};

/** Erasures have a place in the order of rows, and are done whatever happens meanwhile. */
export const describeErasures: Part = (name, enter) => {
  const it = scenarioOf(enter);

  describe(`erasures of ${name}`, () => {
    it('have a place among the rows, which all processes read', async (store, { open }) => {
      const other = await open();
      expect(await store.progress.lastErasure()).toBe(0);
      await store.erase({ project: 'p', user_id: 'never' });
      await store.write([event({ user_id: 'u"\\\'' }), event()]);
      await store.erase({ project: 'p', user_id: 'u"\\\'' });
      await other.write([event({ user_id: 'u"\\\'' })]);
      const [, one, last] = [0, ...(await rowsOf(other)).map(({ seq }) => seq)];
      const [never, erasure] = await erasuresOf(other);
      expect(never).toEqual({ place: 1, project: 'p', user_id: 'never', upto: 1 });
      const place = erasure!.place;
      expect(erasure).toEqual({ place, project: 'p', user_id: 'u"\\\'', upto: place });
      expect([one! < place, place < last!]).toEqual([true, true]);
      expect(await other.progress.lastErasure()).toBe(place);
      expect(await other.progress.erasures(1, 1)).toEqual([erasure]);
      expect(await other.progress.erasures(place, 1)).toEqual([]);
    });

    it('delete what fits all of their fields, up to the place that the count has named', async (store) => {
      const row = (id: string, second: number, body = {}) =>
        event({ user_id: 'u', ...body }, { id, receivedAt: at(second) });
      await store.write([
        identify({ a: 1 }, { id: 'identify', receivedAt: at(1) }, { user_id: 'u' }),
        ...[row('early', 1), row('from', 2), row('within', 3), row('to', 5)],
        row('of another project', 3, { project: 'q' }),
        row('of another channel', 3, { channel: 'd' }),
        row('of another name', 3, { event: 'f' }),
      ]);
      await store.refuse([refusal({ project: 'p', user_id: 'u' })]);
      const erased = { project: 'p', channel: 'c', event: 'e', from: at(2), to: at(5) };
      const { rows, upto } = await store.countErased(erased);
      expect(rows).toBe(2);
      expect(await rowsOf(store)).toHaveLength(8);
      await store.write([row('since the count', 3)]);
      expect(await store.erase(erased, upto)).toBe(2);
      const left = ['identify', 'early', 'to', 'of another project', 'of another channel'];
      expect(idsOf(await rowsOf(store))).toEqual([...left, 'of another name', 'since the count']);
      expect(await store.profiles({}, ALL)).toHaveLength(1);
      expect(await refusedOf(store)).toHaveLength(1);
      expect(await erasuresOf(store)).toEqual([{ place: expect.any(Number), ...erased, upto }]);
      expect(await store.countErased(erased)).toMatchObject({ rows: 1 });
      expect(await store.countErased({ project: 'p' })).toMatchObject({ rows: 6 });
      // A place that does not exist yet holds for what is stored by now.
      expect(await store.erase({ project: 'p' }, 1e9)).toBe(6);
      expect((await erasuresOf(store))[1]).toMatchObject({ upto: expect.toSatisfy((n) => n < 99) });
      expect(await store.counts()).toEqual([{ project: 'q', type: 'event', rows: 1 }]);
    });

    it('leave a user that comes again meanwhile a profile of what came since', async (store, {
      open,
    }) => {
      const other = await open();
      await store.write(times(3_000, () => event({ user_id: 'u' })));
      await store.write([identify({ before: 1 }, {}, { user_id: 'u' })]);
      const erased = store.erase({ project: 'p', user_id: 'u' });
      while ((await rowsOfUser(other, 'u')).length === 3_001) await new Promise(setImmediate);
      await other.write([identify({ since: 1 }, { id: 'since' }, { user_id: 'u' })]);
      expect(await erased).toBe(3_001);
      expect(idsOf(await rowsOf(store))).toEqual(['since']);
      const [profile] = await store.profiles({}, ALL);
      expect(profile!.properties).toEqual({ since: 1 });
    });

    it('go on in the next process, and none that came later is read before', async (store, {
      open,
    }) => {
      const other = await open();
      await other.refuse([refusal({ project: 'p', user_id: 'gone' })]);
      await breakOff(store, other, 8_000);
      await other.write([event({ user_id: 'gone' }, { id: 'since' }), event({ user_id: 'later' })]);
      expect(await other.erase({ project: 'p', user_id: 'later' })).toBe(1);
      expect(await erasuresOf(other)).toEqual([]);
      expect(await other.progress.lastErasure()).toBe(0);
      const next = await open();
      await vi.waitFor(async () => expect(await erasuresOf(next)).toHaveLength(2));
      expect((await erasuresOf(next)).map(({ user_id }) => user_id)).toEqual(['gone', 'later']);
      expect(idsOf(await rowsOf(next))).toEqual(['since']);
      expect(await refusedOf(next)).toEqual([]);
      expect(await next.counts()).toEqual([{ project: 'p', type: 'event', rows: 1 }]);
    });

    it('are kept for an hour, and until each target has heard of them', async (store, world) => {
      const { progress } = store;
      /** What is left after another process has looked. */
      const left = async (count: number) => {
        const next = await world.open();
        await vi.waitFor(async () => expect(await erasuresOf(next)).toHaveLength(count));
        await next.close();
      };
      await store.erase({ project: 'p', user_id: 'a' });
      await world.makeOlder(HOUR_MS + 1);
      await store.erase({ project: 'p', user_id: 'b' });
      await left(1);
      const [one, two] = [await progress.take('one', 'me'), await progress.take('two', 'me')];
      const { place } = (await erasuresOf(store))[0]!;
      await world.makeOlder(HOUR_MS + 1);
      await progress.keep(one!, { erased: place });
      await progress.keep(two!, { erased: place - 1 });
      await left(1);
      await progress.keep(two!, { erased: place });
      await left(0);
      expect(await progress.targets()).toHaveLength(2);
    });
  });
};
