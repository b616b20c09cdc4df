import { describe, expect } from 'vitest';
import {
  ALL,
  at,
  event,
  identify,
  idsOf,
  refusal,
  refusedOf,
  rowOf,
  rowsOf,
  withoutSeq,
  scenarioOf,
  type Part,
} from './scenario.js';

/** Taking over what another store holds. */
export const describeAdoption: Part = (name, enter) => {
  const it = scenarioOf(enter);

  describe(`what ${name} takes over from another store`, () => {
    const held = () => {
      const rows = [event({ user_id: 'u' }, { client: 'abc' }), identify({ a: 'row' })].map(
        (record, n) => ({ ...rowOf(record), arrivals: n + 2 }),
      );
      const profile = {
        ...{ project: 'p', user_id: 'u', properties: { a: 1, b: 1 } },
        ...{ set_at: { a: at(10), b: at(10) }, created_at: at(2), updated_at: at(10) },
      };
      const refused = [refusal(), refusal({ id: 'i', body: 'b', record: event({}, { id: 'i' }) })];
      return { rows, profiles: [profile], refused };
    };

    it('is kept as it is, and taken over once', async (store) => {
      const all = held();
      expect(await store.adopt(all)).toBe(4);
      const look = async () => ({
        rows: await rowsOf(store),
        profiles: await store.profiles({}, ALL),
        refused: await refusedOf(store),
        counts: await store.counts(),
      });
      const seen = await look();
      expect(withoutSeq(seen.rows)).toEqual(all.rows);
      expect(seen.profiles).toEqual(all.profiles);
      expect(seen.refused.map(({ id, isDead }) => [id, isDead])).toEqual([
        [undefined, undefined],
        ['i', true],
      ]);
      expect((await store.dead(seen.refused.map(({ seq }) => seq)))[0]!.record.id).toBe('i');
      expect(seen.counts.map(({ rows }) => rows)).toEqual([1, 1]);
      expect(await store.adopt(all)).toBe(0);
      expect(await look()).toEqual(seen);
      expect(await store.adopt({})).toBe(0);
    });

    it('leaves what is here, and of each property what the later call said', async (store) => {
      const all = held();
      const own = { ...event(), id: all.rows[0]!.id };
      await store.write([
        own,
        identify({ a: 'earlier' }, { calledAt: at(9), receivedAt: at(1) }),
        identify({ b: 'later' }, { calledAt: at(11), receivedAt: at(12) }),
      ]);
      expect(await store.adopt(all)).toBe(3);
      expect((await rowsOf(store))[0]).toMatchObject(rowOf(own));
      expect(await store.profiles({}, ALL)).toEqual([
        {
          ...{ project: 'p', user_id: 'u', properties: { a: 1, b: 'later' } },
          ...{ set_at: { a: at(10), b: at(11) }, created_at: at(1), updated_at: at(12) },
        },
      ]);
    });

    it('has a refusal for a profile that would be too large, and the others all the same', async (store) => {
      const half = 'x'.repeat(150_000);
      await store.write([identify({ first: half })]);
      const dates = { created_at: at(2), updated_at: at(10) };
      const profiles = [
        { project: 'p', user_id: 'a', properties: {}, set_at: {}, ...dates },
        {
          ...{ project: 'p', user_id: 'u', properties: { second: half } },
          ...{ set_at: { second: at(10) }, ...dates },
        },
        { project: 'p', user_id: 'z', properties: {}, set_at: {}, ...dates },
      ];
      expect(await store.adopt({ profiles })).toBe(0);
      expect(await store.adopt({ profiles })).toBe(0); // and refused once
      const kept = await store.profiles({}, ALL);
      expect(kept.map(({ user_id, properties }) => [user_id, Object.keys(properties)])).toEqual([
        ['a', []],
        ['u', ['first']],
        ['z', []],
      ]);
      const words = expect.stringContaining('a profile may have 262,144 characters at the most');
      const refused = await refusedOf(store);
      expect(refused).toMatchObject([{ project: 'p', user_id: 'u', message: words }]);
    });

    it('asks for no notification, as its own rows do', async (store) => {
      const [own, silent, other] = [
        ...[event({ notify: true }), event({ notify: false }), event({ notify: true })],
      ];
      await store.write([own!, silent!, identify({ notify: true })]);
      await store.adopt({ rows: [{ ...rowOf(other!), arrivals: 1 }] });
      expect(idsOf(await store.rows({ notify: true }, ALL))).toEqual([own!.id]);
      await store.write([other!]); // a repeat of what was taken over
      expect(idsOf(await store.rows({ notify: true }, ALL))).toEqual([own!.id]);
    });

    it('has dead letters for the rows that the database refuses', async (store, { spoil }) => {
      await spoil('bad', 'no');
      const rows = ['a', 'bad', 'c'].map((word) => rowOf(event({ event: word })));
      for (const added of [3, 0]) expect(await store.adopt({ rows })).toBe(added);
      expect((await rowsOf(store)).map((row) => row.event)).toEqual(['a', 'c']);
      expect(await refusedOf(store)).toMatchObject([{ id: rows[1]!.id, isDead: true }]);
    });
  });
};
