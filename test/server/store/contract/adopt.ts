import { describe, expect } from 'vitest';
import {
  ALL,
  at,
  event,
  identify,
  profileOf,
  idsOf,
  refusal,
  refusedOf,
  rowOf,
  rowsOf,
  withoutSeq,
  scenarioOf,
  type Part,
} from './scenario.js';

const NOTHING = { rows: 0, refused: 0 };

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
        ...{ set_at: { a: at(10), b: at(10) }, created_at: at(0), updated_at: at(10) },
      };
      const refused = [refusal(), refusal({ id: 'i', body: 'b', record: event({}, { id: 'i' }) })];
      return { rows, profiles: [profile], refused };
    };

    it('is kept as it is, and taken over once', async (store) => {
      const all = held();
      expect(await store.adopt(all)).toEqual({ rows: 2, refused: 2 });
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
      expect(await store.adopt(all)).toEqual(NOTHING);
      expect(await look()).toEqual(seen);
      expect(await store.adopt({})).toEqual(NOTHING);
    });

    it('leaves what is here, and of each property what the later call said', async (store) => {
      const all = held();
      const own = { ...event(), id: all.rows[0]!.id };
      await store.write([
        own,
        identify({ a: 'earlier' }, { calledAt: at(9), receivedAt: at(1) }),
        identify({ b: 'later' }, { calledAt: at(11), receivedAt: at(12) }),
      ]);
      expect(await store.adopt(all)).toEqual({ rows: 1, refused: 2 });
      expect((await rowsOf(store))[0]).toMatchObject(rowOf(own));
      expect(await store.profiles({}, ALL)).toEqual([
        {
          ...{ project: 'p', user_id: 'u', properties: { a: 1, b: 'later' } },
          ...{ set_at: { a: at(10), b: at(11) }, created_at: at(0), updated_at: at(12) },
        },
      ]);
    });

    it('has the identifies of rows without profiles merged, once each', async (store) => {
      await store.write([identify({ a: 'own', b: 'own' }, { calledAt: at(5), receivedAt: at(5) })]);
      const own = await profileOf(store);
      const rows = [
        identify({ a: 'later' }, { calledAt: at(6), receivedAt: at(9) }),
        identify({ a: 'earlier', b: 'earlier', c: 1 }, { calledAt: at(4), receivedAt: at(4) }),
        event({ user_id: 'u' }),
      ].map((record) => ({ ...rowOf(record), arrivals: 2 }));
      expect(await store.adopt({ rows: [...rows, rows[0]!] })).toEqual({
        ...{ rows: 3, refused: 0 },
      });
      const merged = {
        ...{ ...own, properties: { a: 'later', b: 'own', c: 1 } },
        ...{ set_at: { a: at(6), b: at(5), c: at(4) }, created_at: at(4), updated_at: at(9) },
      };
      expect(await profileOf(store)).toEqual(merged);
      await store.write([identify({ a: 'last' }, { calledAt: at(8), receivedAt: at(8) })]);
      expect(await store.adopt({ rows })).toEqual(NOTHING);
      expect((await profileOf(store)).properties).toEqual({ ...merged.properties, a: 'last' });
      expect((await rowsOf(store)).map(({ arrivals }) => arrivals)).toEqual([1, 2, 2, 2, 1]);
    });

    it('has NUL and half characters replaced', async (store) => {
      const rows = [rowOf(event({ event: 'a\0b', tags: { 'c\ud800': '\0' } }))];
      expect(await store.adopt({ rows })).toEqual({ rows: 1, refused: 0 });
      expect(await store.adopt({ rows })).toEqual(NOTHING);
      const tags = { 'c\ufffd': '\ufffd' };
      expect(await rowsOf(store)).toMatchObject([{ event: 'a\ufffdb', body: { tags } }]);
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
      expect(await store.adopt({ rows })).toEqual({ rows: 2, refused: 1 });
      expect(await store.adopt({ rows })).toEqual(NOTHING);
      expect((await rowsOf(store)).map((row) => row.event)).toEqual(['a', 'c']);
      expect(await refusedOf(store)).toMatchObject([{ id: rows[1]!.id, isDead: true }]);
    });
  });
};
