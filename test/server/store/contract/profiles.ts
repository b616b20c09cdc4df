import { describe, expect, test } from 'vitest';
import { patient } from '../../support/patient.js';
import {
  ALL,
  KNOWN,
  STORED,
  at,
  event,
  first,
  identify,
  profileOf,
  refusedOf,
  rowsOf,
  times,
  scenarioOf,
  type Part,
} from './scenario.js';

/** Profiles, which identifies are merged into. */
export const describeProfiles: Part = (name, enter) => {
  const open = async () => patient(await enter().open());
  const it = scenarioOf(enter);

  describe(`the profiles of ${name}`, () => {
    it('are merged one level deep', async (store) => {
      await store.write([
        identify({ plan: { name: 'free', seats: 1 }, city: 'Bern', old: 1 }, { receivedAt: at(1) }),
        identify(JSON.parse('{"__proto__":1}') as object, {}, { user_id: 'odd' }),
        identify({}, { receivedAt: at(2) }, { user_id: 'empty' }),
      ]);
      await store.write([
        identify({ plan: { name: 'pro' }, old: null }, { calledAt: at(3), receivedAt: at(4) }),
        identify({ a: 2 }, {}, { user_id: 'odd' }),
      ]);
      const odd = first(await store.profiles({ user_id: 'odd' }, ALL));
      expect(Object.entries(odd.properties).sort()).toEqual([
        ['__proto__', 1],
        ['a', 2],
      ]);
      const others = (await store.profiles({}, ALL)).filter(({ user_id }) => user_id !== 'odd');
      expect(others).toEqual([
        {
          ...{ project: 'p', user_id: 'empty', properties: {}, set_at: {} },
          ...{ created_at: at(2), updated_at: at(2) },
        },
        {
          ...{ project: 'p', user_id: 'u' },
          properties: { plan: { name: 'pro' }, city: 'Bern', old: null },
          set_at: { plan: at(3), city: at(0), old: at(3) },
          ...{ created_at: at(1), updated_at: at(4) },
        },
      ]);
    });

    test.each([
      ['in one batch', true],
      ['one by one', false],
    ])('have of each property what the latest call said: %s', async (_, isOneBatch) => {
      const store = await open();
      const records = [
        identify({ a: 'third', b: 'third' }, { calledAt: at(3) }),
        identify({ a: 'first', b: 'first', c: 'first' }, { calledAt: at(1) }),
        identify({ b: 'fourth', c: 'fourth' }, { calledAt: at(4) }),
        identify({ c: 'second', d: 'second' }, { calledAt: at(2) }),
        identify({ d: 'second, later' }, { calledAt: at(2) }),
      ];
      if (isOneBatch) await store.write(records);
      else for (const record of records) await store.write([record]);
      const { properties, set_at } = await profileOf(store);
      expect(properties).toEqual({ a: 'third', b: 'fourth', c: 'fourth', d: 'second, later' });
      expect(set_at).toEqual({ a: at(3), b: at(4), c: at(4), d: at(2) });
    });

    it('are not changed by an identify that is known', async (store) => {
      const [one, two] = [identify({ a: 1 }), identify({ a: 2 })];
      await store.write([one, two]);
      expect(await store.write([{ ...one, receivedAt: at(50) }, one])).toEqual([KNOWN, KNOWN]);
      const { properties, updated_at } = await profileOf(store);
      expect({ properties, updated_at }).toEqual({ properties: { a: 2 }, updated_at: at(0) });
    });

    it('lose no property when several processes write of the same users', async (store, {
      open,
    }) => {
      const stores = [store, await open(), await open()];
      const users = ['a', 'b', 'c', 'd'];
      const writes = times(30, (n) => {
        // Each in another order, and so a deadlock, if one waits for the other.
        const ordered = n % 2 ? users : [...users].reverse();
        return stores[n % 3]!.write(
          ordered.map((user_id) => identify({ [`p${n}`]: n, last: n }, {}, { user_id })),
        );
      });
      await Promise.all(writes);
      const profiles = await stores[0]!.profiles({}, ALL);
      expect(profiles.map(({ user_id }) => user_id)).toEqual(users);
      for (const { properties } of profiles) expect(Object.keys(properties)).toHaveLength(31);
    });

    it('have bounds, which an identify that names known properties does not break', async (store) => {
      const named = (from: number, to: number, value: unknown = from) =>
        Object.fromEntries(times(to - from, (n) => [`p${from + n}`, value]));
      const [alone, beyond, late] = [
        identify(named(0, 401), {}, { user_id: 'another' }),
        identify({ p0: 'never', p400: 1 }, { calledAt: at(2) }),
        identify({ p401: 1 }, { calledAt: at(-5) }),
      ];
      const records = [
        ...[alone, identify(named(0, 398))],
        identify({ ...named(0, 200, 'x'), ...named(398, 400) }, { calledAt: at(1) }),
        ...[event({ user_id: 'u' }), beyond],
      ];
      expect(await store.write(records)).toEqual(records.map(() => STORED));
      const known = { p0: 'later', p399: 'later' };
      await store.write([late, identify(known, { calledAt: at(3) })]);
      const [profile, ...others] = await store.profiles({}, ALL);
      expect(others).toEqual([]);
      expect(profile!.properties).toEqual({
        ...{ ...named(0, 398), ...named(0, 200, 'x'), ...named(398, 400) },
        ...known,
      });
      expect(Object.keys(profile!.set_at)).toHaveLength(400);
      const words = 'a profile may have 400 properties at the most';
      expect(await refusedOf(store)).toMatchObject(
        [alone, beyond, late].map(({ id }) => ({ id, message: words, status: 200, isDead: true })),
      );
      expect(await rowsOf(store)).toHaveLength(7);
    });

    it('have just as many characters as they may have, and no more', async (store) => {
      const left = async () =>
        (await refusedOf(store)).map(({ id, message }) => [id, message.split(' ')[4]]);
      const size = async () => JSON.stringify((await profileOf(store)).properties).length;
      const write = (id: string, properties: object, second = 0) =>
        store.write([identify(properties, { id, calledAt: at(second) })]);
      await write('1', { '"': '\n'.repeat(10_000), ü: '😀'.repeat(10_000) });
      const most = 65_536;
      const rest = 'x'.repeat(most - (await size()) - ',"rest":""'.length);
      await write('2', { rest: `${rest}x` });
      expect(await left()).toEqual([['2', '65,536']]);
      await write('3', { rest });
      expect(await size()).toBe(most);
      await write('4', { ü: '😀'.repeat(10_000), '"': 'y'.repeat(20_000) }, 1);
      await write('5', { ü: `${'😀'.repeat(10_000)}x` }, 2);
      expect(await left()).toEqual([
        ['2', '65,536'],
        ['5', '65,536'],
      ]);
      expect(await size()).toBe(most);
    });

    it('are merged from what another store holds, whatever the size', async (store) => {
      await store.write([identify({ a: 1 })]);
      const profile = await profileOf(store);
      const properties = Object.fromEntries(times(500, (n) => [`p${n}`, n]));
      const set_at = Object.fromEntries(Object.keys(properties).map((name) => [name, at(0)]));
      await store.adopt({ profiles: [{ ...profile, properties, set_at }] });
      expect((await profileOf(store)).properties).toEqual({ a: 1, ...properties });
      await store.write([identify({ p0: 'x' }, { calledAt: at(1) }), identify({ p500: 1 })]);
      expect((await profileOf(store)).properties).toEqual({ a: 1, ...properties, p0: 'x' });
      expect(await refusedOf(store)).toHaveLength(1);
    });

    it('expire when no identify has touched them for as long', async (store) => {
      const touched = [
        ...(['old 1', 'old 2', 'old 3', 'kept 1', 'kept 2'] as const),
        ...(['new 1', 'new 2', 'new 3'] as const),
      ].map((user_id) =>
        identify({ a: 1 }, { receivedAt: at(user_id.startsWith('new') ? 7 : 1) }, { user_id }),
      );
      await store.write(touched);
      const again = ['kept 1', 'kept 2'].map((user_id) =>
        identify({}, { receivedAt: at(6) }, { user_id }),
      );
      await store.write(again);
      // Its rows are gone, or never came with it.
      const [lonely] = await store.profiles({ user_id: 'old 1' }, ALL);
      await store.adopt({ profiles: [{ ...lonely!, user_id: 'a lonely one' }] });
      let expired = 0;
      for (let n = 0; n < 20; n++) expired += await store.expireProfiles(at(5), 2);
      expect(expired).toBe(4);
      const left = await store.profiles({}, ALL);
      expect(left.map(({ user_id }) => user_id)).toEqual([
        'kept 1',
        'kept 2',
        'new 1',
        'new 2',
        'new 3',
      ]);
      expect(left[0]!.properties).toEqual({ a: 1 });
    });

    it('are read by project and user, in pages', async (store) => {
      const places = ['Z', 'a', 'b', 'é', '😀', '\uffee'];
      await store.write(
        ['q', 'p'].flatMap((project) =>
          places.map((user_id) => identify({}, {}, { project, user_id })),
        ),
      );
      const inOrder = ['Z', 'a', 'b', 'é', '\uffee', '😀']; // by bytes of UTF-8
      const all = await store.profiles({}, ALL);
      expect(all.map(({ project, user_id }) => [project, user_id])).toEqual(
        ['p', 'q'].flatMap((project) => inOrder.map((user_id) => [project, user_id])),
      );
      for (let n = 0; n < all.length; n += 3) {
        const page = { after: all[n - 1], limit: 3 };
        expect(await store.profiles({}, page)).toEqual(all.slice(n, n + 3));
      }
      expect(await store.profiles({ project: 'q' }, ALL)).toEqual(all.slice(6));
      expect(await store.profiles({ project: 'q', user_id: 'a' }, ALL)).toEqual([all[7]]);
      expect(await store.profiles({ user_id: 'nobody' }, ALL)).toEqual([]);
    });
  });
};
