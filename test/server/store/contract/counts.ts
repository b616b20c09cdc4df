import { describe, expect } from 'vitest';
import type { RefusedCount } from '../../../../src/server/store/port.js';
import { at, event, scenarioOf, times, type Part } from './scenario.js';

const EVER = { from: '2026-01-01T00:00:00.000Z', to: '2027-01-01T00:00:00.000Z' };
const hour = (n: number): string => new Date(Date.UTC(2026, 2, 1, n)).toISOString();

/** What is counted beside the rows: refused answers, and the times in which no rows were stored. */
export const describeCounts: Part = (name, enter) => {
  const it = scenarioOf(enter);

  describe(`the refused answers that ${name} counts`, () => {
    it('are all of them, whoever adds them and in whatever order', async (store, { open }) => {
      const others = [store, await open(), await open()];
      const keys = times(800, (n) => ({
        ...{ hour: hour(n % 3), project: n % 2 ? `p${n % 200}` : '' },
        reason: (['token', 'field', 'rate'] as const)[(n % 7) % 3]!,
      }));
      const all: (RefusedCount & { project: string })[] = [];
      const adding = times(30, (n) => {
        // One statement has each key once.
        const own = new Map(
          keys.filter((_, at) => (at + n) % 3).map((key) => [JSON.stringify(key), key]),
        );
        const given = [...own.values()].map((key, at) => ({ ...key, n: 1 + ((at + n) % 5) }));
        if (n % 2) given.reverse();
        all.push(...given);
        return others[n % 3]!.addRefused(given);
      });
      await Promise.all(adding);
      const sums = (some: readonly RefusedCount[]): Record<string, number> => {
        const sum: Record<string, number> = {};
        for (const { hour: of, reason, n } of some)
          sum[`${of} ${reason}`] = (sum[`${of} ${reason}`] ?? 0) + n;
        return sum;
      };
      const counted = await store.refusedHours(EVER);
      expect(sums(counted)).toEqual(sums(all));
      expect(counted).toHaveLength(Object.keys(sums(all)).length);
      const ofOne = all.filter(({ project }) => project === 'p3');
      expect(sums(await store.refusedHours({ ...EVER, project: 'p3' }))).toEqual(sums(ofOne));
      const inOne = all.filter((one) => one.hour === hour(1));
      const span = { from: hour(1), to: hour(2) };
      expect(sums(await store.refusedHours(span))).toEqual(sums(inOne));
      await store.expireRefused(hour(2));
      const left = all.filter((one) => one.hour === hour(2));
      expect(sums(await store.refusedHours(EVER))).toEqual(sums(left));
    });
  });

  describe(`the outages that ${name} keeps`, () => {
    const outage = (from: number, to: number, problem = 'the disk is full') => ({
      ...{ from: at(from), to: at(to), process: 'web-1', problem },
    });

    it('are those of a time, once each', async (store) => {
      const all = [outage(10, 20), outage(30, 40, 'away "…"\u0000'), outage(50, 55)];
      for (const one of [...all, all[0]!]) await store.addOutage(one);
      await store.addOutage({ ...all[0]!, process: 'web-2' });
      const read = async (from: number, to: number) =>
        (await store.outages({ from: at(from), to: at(to) })).map((one) => [one.from, one.process]);
      expect(await store.outages({ from: at(25), to: at(45) })).toEqual([
        { ...all[1], problem: 'away "…"\ufffd' },
      ]);
      expect(await read(0, 15)).toEqual([
        [at(10), expect.any(String)],
        [at(10), expect.any(String)],
      ]);
      expect(await read(20, 30)).toHaveLength(2);
      expect(await read(41, 50)).toEqual([]);
      await store.expireRefused(at(45));
      expect(await read(0, 59)).toEqual([[at(50), 'web-1']]);
    });

    it('know the rows that were called meanwhile and came later', async (store) => {
      const record = (called: number, arrived: number) =>
        event({}, { calledAt: at(called), receivedAt: at(arrived) });
      await store.write([
        ...[record(5, 6), record(9, 31), record(11, 31), record(29, 32), record(30, 33)],
        ...times(40, () => record(20, 50)),
      ]);
      expect(await store.countLater({ from: at(10), to: at(30) })).toEqual({
        ...{ rows: 42, isAll: true },
      });
      expect(await store.countLater({ from: at(54), to: at(55) })).toEqual({
        ...{ rows: 0, isAll: true },
      });
    });
  });
};
