import { describe, expect } from 'vitest';
import {
  ALL,
  KNOWN,
  STORED,
  at,
  event,
  identify,
  idsOf,
  rowOf,
  rowsOf,
  times,
  withoutSeq,
  scenarioOf,
  type Part,
} from './scenario.js';

/** Writing records, each of them once. */
export const describeRecords: Part = (name, enter) => {
  const it = scenarioOf(enter);

  describe(`the records of ${name}`, () => {
    it('are given back as they came', async (store) => {
      expect(await store.write([])).toEqual([]);
      expect(await rowsOf(store)).toEqual([]);
      const records = [
        event({ user_id: 'ü 🎉', description: 'd', icon: '🔥', notify: true, tags: { a: [1] } }),
        event({}, { client: 'abcdef012345', calledAt: at(1), receivedAt: at(2) }),
        identify({ plan: 'pro', nested: { a: null } }, { calledAt: at(3), receivedAt: at(4) }),
      ];
      expect(await store.write(records)).toEqual([STORED, STORED, STORED]);
      expect(withoutSeq(await rowsOf(store))).toEqual(records.map(rowOf));
    });

    it('are known when they come again, to each process, and stay as they were', async (one, {
      open,
    }) => {
      const other = await open();
      const record = event({ tags: { n: 1 } });
      const again = { ...record, body: { ...record.body, tags: { n: 2 } }, receivedAt: at(9) };
      expect(await one.write([record])).toEqual([STORED]);
      expect(await other.write([again, event()])).toEqual([KNOWN, STORED]);
      expect(await one.write([again])).toEqual([KNOWN]);
      const [row] = await one.rows({}, ALL);
      expect(row).toMatchObject({ ...rowOf(record), arrivals: 3 });
      expect(await one.counts()).toEqual([{ project: 'p', type: 'event', rows: 2 }]);
    });

    it('are others with the same id in another project or of another type', async (store) => {
      const records = [
        event({}, { id: 'same' }),
        event({ project: 'q' }, { id: 'same' }),
        identify({}, { id: 'same' }),
      ];
      expect(await store.write(records)).toEqual([STORED, STORED, STORED]);
      expect(await rowsOf(store)).toHaveLength(3);
    });

    it('are stored once when they are several times in one batch', async (store) => {
      const [record, other] = [event(), event()];
      const written = await store.write([record, other, record, record]);
      expect(written).toEqual([STORED, STORED, KNOWN, KNOWN]);
      expect((await rowsOf(store)).map(({ id, arrivals }) => [id, arrivals])).toEqual([
        [record.id, 3],
        [other.id, 1],
      ]);
    });

    it('each get their own answer when many are written at once', async (store, { open }) => {
      const stores = [store, await open()];
      const batches = times(60, (n) => times((n % 7) + 1, () => event()));
      const write = (batch: ReturnType<typeof event>[], n: number) => stores[n % 2]!.write(batch);
      const written = await Promise.all(batches.map(write));
      expect(written.map(({ length }) => length)).toEqual(batches.map(({ length }) => length));
      expect(new Set(written.flat().map(({ outcome }) => outcome))).toEqual(new Set(['stored']));
      const again = await Promise.all(batches.map((batch, n) => write([event(), ...batch], n + 1)));
      for (const [fresh, ...others] of again) {
        expect(fresh).toEqual(STORED);
        expect(new Set(others.map(({ outcome }) => outcome))).toEqual(new Set(['known']));
      }
      const ids = idsOf(await stores[0]!.rows({}, ALL));
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids).toHaveLength(batches.flat().length + batches.length);
    });
  });
};
