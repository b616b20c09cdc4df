import { describe, expect } from 'vitest';
import type { EventBody } from '../../../../src/interface/bodies.js';
import type { Refused } from '../../../../src/server/store/port.js';
import { MAX_DEAD_SIZE, MAX_REFUSED } from '../../../../src/server/store/refused-bounds.js';
import {
  ALL,
  KNOWN,
  STORED,
  at,
  event,
  first,
  identify,
  idsOf,
  profileOf,
  refusal,
  refusedOf,
  rowsOf,
  times,
  withoutSeq,
  scenarioOf,
  type Part,
} from './scenario.js';

/** What was refused, and the dead letters among it. */
export const describeRefused: Part = (name, enter) => {
  const it = scenarioOf(enter);

  describe(`the dead letters of ${name}`, () => {
    it('are the records that the database refuses, and no others', async (store, { spoil }) => {
      const unspoil = await spoil('bad', 'not this "one"');
      const records = times(50, (n) =>
        event({ event: n % 17 === 3 ? 'bad' : 'good', user_id: 'u' }, { client: 'abc' }),
      );
      const dead = records.filter(({ body }) => (body as EventBody).event === 'bad');
      const died = { outcome: 'dead', message: 'not this "one"' };
      expect(await store.write(records)).toEqual(
        records.map((record) => (dead.includes(record) ? died : STORED)),
      );
      const stored = idsOf(records.filter((record) => !dead.includes(record)));
      expect(idsOf(await rowsOf(store)).sort()).toEqual(stored.sort());

      const refused = await refusedOf(store);
      expect(refused).toEqual(
        dead.map(({ id, body }, n): Refused => ({
          ...{ seq: refused[n]!.seq, received_at: dead[n]!.receivedAt, reason: 'database' },
          ...{ status: 422, message: 'not this "one"', id, type: 'event', project: 'p' },
          ...{ user_id: 'u', body: JSON.stringify(body), isDead: true, client: 'abc' },
        })),
      );
      const seqs = refused.map(({ seq }) => seq);
      const whole = await store.dead([seqs[1]!, 999_999, seqs[0]!]);
      expect(whole).toEqual([
        { seq: seqs[1], record: dead[1] },
        { seq: seqs[0], record: dead[0] },
      ]);
      await unspoil();
      expect(await store.resend([seqs[0]!, 999_999])).toEqual([{ seq: seqs[0], ...STORED }]);
      expect(idsOf(await refusedOf(store))).toEqual(idsOf(dead.slice(1)));
      expect(idsOf(await store.rows({}, { limit: 1, newest: true }))).toEqual([dead[0]!.id]);
    });

    it('stay while the database refuses them, with its latest words, and go when they are known', async (store, {
      spoil,
    }) => {
      const unspoil = await spoil('bad', 'no');
      const record = event({ event: 'bad' });
      await store.write([record]);
      const { seq } = first(await refusedOf(store));
      await unspoil();
      const unspoilAgain = await spoil('bad', 'not yet');
      expect(await store.resend([seq])).toEqual([{ seq, outcome: 'dead', message: 'not yet' }]);
      expect(await refusedOf(store)).toMatchObject([{ seq, message: 'not yet' }]);
      await unspoilAgain();
      await store.write([record]);
      expect(await store.resend([seq])).toEqual([{ seq, ...KNOWN }]);
      expect(await refusedOf(store)).toEqual([]);
      expect(await store.resend([seq])).toEqual([]);
      expect(await store.resend([])).toEqual([]);
    });

    it('are deleted for good, and nothing else that was refused', async (store, { spoil }) => {
      await spoil('bad', 'no');
      await store.write([event({ event: 'bad' }), event({ event: 'bad' })]);
      await store.refuse([refusal()]);
      const [one, two, other] = (await refusedOf(store)).map(({ seq }) => seq);
      expect(await store.purge([one!, one!, other!, 999_999])).toBe(1);
      expect((await refusedOf(store)).map(({ seq }) => seq)).toEqual([two, other]);
      expect(await store.countRefused()).toBe(2);
      expect(await store.resend([one!])).toEqual([]);
      expect(await store.purge([])).toBe(0);
    });

    it('are identifies too, whose profile stays as it was', async (store, { spoil }) => {
      const bad = identify({ bad: 1 });
      await spoil(bad.id, 'no');
      const written = await store.write([identify({ a: 1 }), bad, identify({ b: 2 })]);
      expect(written).toMatchObject([STORED, { outcome: 'dead' }, STORED]);
      expect((await profileOf(store)).properties).toEqual({ a: 1, b: 2 });
      expect(first(await refusedOf(store))).toMatchObject({ id: bad.id, type: 'identify' });
    });

    it('are the rows whose identify would make a profile too large, and are merged when they are resent', async (store) => {
      const half = 'x'.repeat(40_000);
      const tooMuch = identify({ second: half }, { calledAt: at(1) }, {});
      await store.write([identify({ first: half })]);
      expect(await store.write([event({}), tooMuch])).toEqual([STORED, STORED]);
      const letter = first(await refusedOf(store));
      expect(letter).toEqual({
        ...{ seq: letter.seq, received_at: tooMuch.receivedAt, reason: 'database', status: 200 },
        message: 'a profile may have 65,536 characters at the most',
        ...{ id: tooMuch.id, type: 'identify', project: 'p', user_id: 'u', isDead: true },
      });
      expect(await store.resend([letter.seq])).toEqual([
        { seq: letter.seq, outcome: 'dead', message: letter.message },
      ]);
      await store.write([identify({ first: 'short' }, { calledAt: at(2) })]);
      expect((await profileOf(store)).properties).toEqual({ first: 'short' });
      expect(await store.resend([letter.seq])).toEqual([{ seq: letter.seq, ...STORED }]);
      expect((await profileOf(store)).properties).toEqual({ first: 'short', second: half });
      expect(await refusedOf(store)).toEqual([]);
      expect(await store.counts()).toMatchObject([{ rows: 1 }, { rows: 3 }]);
      await store.write([identify({ third: half })]);
      expect(await store.purge([first(await refusedOf(store)).seq])).toBe(1);
    });
  });

  describe(`what ${name} keeps of the refused`, () => {
    it('is given back as it came, in pages', async (store) => {
      const given = [
        refusal({ reason: 'token', status: 401, message: 'no "token"\ud800', client: 'abc' }),
        refusal({ id: 'i', type: 'event', project: 'p', user_id: 'u', body: '{"a":"\0"}' }),
        refusal({ received_at: at(3), body: '' }),
      ];
      await store.refuse(given);
      await store.refuse([]);
      const all = await refusedOf(store);
      expect(withoutSeq(all)).toEqual([
        { ...given[0], message: 'no "token"\ufffd' },
        { ...given[1], body: '{"a":"\ufffd"}' },
        given[2],
      ]);
      const [one, two, three] = all;
      expect(await store.refused({ limit: 1, after: one!.seq })).toEqual([two]);
      expect(await store.refused({ limit: 2, newest: true })).toEqual([three, two]);
      expect(await store.refused({ ...ALL, before: two!.seq })).toEqual([one]);
      expect(await store.refused(ALL, 'p')).toEqual([two]);
      expect(await store.refused({ ...ALL, after: two!.seq }, 'p')).toEqual([]);
      expect(await store.refused(ALL, 'q')).toEqual([]);
      expect(await Promise.all([store.countRefused(), store.countRefused('p')])).toEqual([3, 1]);
    });

    it('expires by its age', async (store) => {
      await store.refuse([4, 6, 5, 1].map((second) => refusal({ received_at: at(second) })));
      await store.expireRefused(at(5));
      const times = (await refusedOf(store)).map(({ received_at }) => received_at);
      expect(times).toEqual([at(6), at(5)]);
    });

    it('is the newest of it, with a message and a body that are cut', async (store) => {
      const flood = times(1.5 * MAX_REFUSED, (n) => refusal({ body: `${n}` }));
      await Promise.all([store.refuse(flood.slice(0, 70)), store.refuse(flood.slice(70))]);
      const all = await refusedOf(store);
      expect(all.map(({ body }) => Number(body))).toEqual(
        times(MAX_REFUSED, (n) => n + MAX_REFUSED / 2),
      );
      const long = refusal({ message: 'm'.repeat(100_000), body: 'x'.repeat(100_000) });
      await store.refuse([long]);
      const [newest] = await store.refused({ limit: 1, newest: true });
      expect(newest!.message).toHaveLength(4_096);
      expect(newest!.body).toHaveLength(4_096);
      expect(await store.adopt({ refused: [long] })).toEqual({ rows: 0, refused: 0 });
      expect(await refusedOf(store)).toHaveLength(MAX_REFUSED);
    });

    it('has the dead records apart, which no flood of others pushes out', async (store) => {
      const letter = (n: number, tags = {}) =>
        refusal({ reason: 'database', body: `dead ${n}`, record: event({ tags }) });
      await store.refuse(times(10, (n) => letter(n)));
      await store.refuse(times(MAX_REFUSED + 1, () => refusal()));
      const dead = async () => (await refusedOf(store)).filter(({ isDead }) => isDead);
      expect(await dead()).toHaveLength(10);
      // With what stands beside these tags, one less fits than would without.
      const large = 'x'.repeat(MAX_DEAD_SIZE / 8);
      await store.refuse(times(10, (n) => letter(10 + n, { large })));
      const bodies = (await dead()).map(({ body }) => body);
      expect(bodies).toHaveLength(7);
      expect(bodies.at(-1)).toBe('dead 19');
    });
  });
};
