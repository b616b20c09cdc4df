import { describe, expect, vi } from 'vitest';
import type { Incoming } from '../../../src/server/incoming.js';
import { MAX_PAIRS, PIECE } from '../../../src/server/store/hours.js';
import type { Hour, HourFilter, Row, Store } from '../../../src/server/store/port.js';
import {
  ALL,
  KNOWN,
  STORED,
  event,
  identify,
  rowOf,
  rowsOf,
  scenarioOf,
  times,
  type Part,
} from './scenario.js';

const EVER = { from: '2026-01-01T00:00:00.000Z', to: '2027-01-01T00:00:00.000Z' };
const BASE = Date.UTC(2026, 2, 1, 12);
const MINUTE = 60_000;

const iso = (ms: number): string => new Date(ms).toISOString();
/** The times of a record that arrived so long after noon, and that was called so long before it arrived. */
const timesOf = (arrivedMs: number, delayMs = 0) => ({
  calledAt: iso(BASE + arrivedMs - delayMs),
  receivedAt: iso(BASE + arrivedMs),
});
/** A record that is sent again: later, and with another body. */
const again = (record: Incoming): Incoming => ({ ...record, ...timesOf(600 * MINUTE) });

/** The sums as the rows have them. */
const sumsOf = (rows: readonly Row[]): Hour[] => {
  const sums = new Map<string, Hour>();
  for (const { received_at, called_at, arrivals } of rows) {
    const hour = `${received_at.slice(0, 13)}:00:00.000Z`;
    const none = { rows: 0, repeats: 0, in_2s: 0, in_1m: 0, in_1h: 0, later: 0 };
    const sum = sums.get(hour) ?? { hour, ...none };
    const delay = Date.parse(received_at) - Date.parse(called_at);
    sum.rows++;
    sum.repeats += arrivals - 1;
    sum[
      delay <= 2_000 ? 'in_2s' : delay <= 60_000 ? 'in_1m' : delay <= 3_600_000 ? 'in_1h' : 'later'
    ]++;
    sums.set(hour, sum);
  }
  return [...sums.values()].sort((a, b) => (a.hour < b.hour ? -1 : 1));
};
const hoursOf = async (store: Store, filter: Partial<HourFilter> = {}) =>
  (await store.hours({ ...EVER, ...filter })).hours;

/** Compares the sums of all rows, and of each project, channel and event. */
const expectSums = async (store: Store): Promise<void> => {
  const rows = await rowsOf(store);
  const { hours, events = [] } = await store.hours({ ...EVER, split: true });
  expect(hours).toEqual(sumsOf(rows));
  for (const { channel, event, rows: counts } of events) {
    const own = rows.filter(
      (row) => row.channel === (channel || undefined) && row.event === (event || undefined),
    );
    const inHour = (hour: string) => sumsOf(own).find((one) => one.hour === hour)?.rows ?? 0;
    expect([channel, event, counts]).toEqual([
      channel,
      event,
      hours.map(({ hour }) => inHour(hour)),
    ]);
  }
  const counted = events.flatMap(({ rows: counts }) => counts);
  expect(counted.reduce((sum, count) => sum + count, 0)).toBe(rows.length);
  const names = (row: Row) => [row.project, row.channel ?? '', row.event ?? ''] as const;
  for (const key of new Set(rows.map((row) => JSON.stringify(names(row))))) {
    const [project, channel, name] = JSON.parse(key) as [string, string, string];
    const own = rows.filter((row) => JSON.stringify(names(row)) === key);
    const filter = { project, channel, ...(name && { event: [name] }) };
    expect([key, await hoursOf(store, filter)]).toEqual([key, sumsOf(own)]);
  }
};

/** Records of several hours, projects, names and delays. */
const many = (count: number, name = 'e'): Incoming[] =>
  times(count, (n) => {
    const record = timesOf(n * 7 * MINUTE, [0, -500, 2_000, 2_001, 61_000, 4_000_000][n % 6]);
    const body = { project: n % 5 ? 'p' : 'q', user_id: `u${n % 3}` };
    if (n % 4 === 3) return identify({ n }, record, body);
    return event({ ...body, channel: n % 2 ? 'c' : 'ü "', event: `${name} ${n % 3}` }, record);
  });

/** The sums of rows by hour of arrival, which are kept beside the rows. */
export const describeHours: Part = (name, enter) => {
  const it = scenarioOf(enter);

  describe(`the sums by hour of ${name}`, () => {
    it('agree with the rows, after repeats too', async (store, { open }) => {
      const other = await open();
      expect(await store.hours(EVER)).toEqual({ hours: [] });
      const records = many(60);
      await store.write([...records, records[3]!, records[4]!, records[4]!]);
      await Promise.all([
        other.write(records.slice(0, 9)),
        store.write(records.slice(5, 20).map(again)),
      ]);
      expect((await rowsOf(store)).some(({ arrivals }) => arrivals > 2)).toBe(true);
      await expectSums(store);
    });

    it('are read of some hours, projects, channels and events', async (store) => {
      await store.write([
        event({ event: 'a' }, timesOf(-1)),
        event({ event: 'a' }, timesOf(0)),
        event({ event: 'b' }, timesOf(60 * MINUTE - 1)),
        event({ event: 'c', channel: 'd', project: 'q' }, timesOf(60 * MINUTE)),
      ]);
      const read = async (filter: Partial<HourFilter>) =>
        (await hoursOf(store, filter)).map(({ hour, rows }) => [hour.slice(11, 13), rows]);
      expect(await read({})).toEqual([
        ['11', 1],
        ['12', 2],
        ['13', 1],
      ]);
      expect(await read({ from: iso(BASE), to: iso(BASE + 60 * MINUTE) })).toEqual([['12', 2]]);
      expect(await read({ event: ['a', 'c'] })).toEqual([
        ['11', 1],
        ['12', 1],
        ['13', 1],
      ]);
      expect(await read({ channel: 'd' })).toEqual([['13', 1]]);
      expect(await read({ project: 'q' })).toEqual([['13', 1]]);
      expect(await read({ project: 'nobody' })).toEqual([]);
    });

    it('go with the rows that are erased or too old', async (store) => {
      const records = many(120);
      await store.write(records);
      await store.write(records.filter((_, n) => n % 2).map(again));
      expect(await store.erase({ project: 'p', user_id: 'u1' })).toBeGreaterThan(10);
      await expectSums(store);
      expect(await store.expire(records[40]!.receivedAt, 15)).toBeGreaterThan(10);
      await expectSums(store);
      for (const user of ['u0', 'u1', 'u2'])
        for (const project of ['p', 'q']) await store.erase({ project, user_id: user });
      expect(await store.hours(EVER)).toEqual({ hours: [] });
      await store.write(records);
      await expectSums(store);
      await store.write(many(10));
      for (let gone = 1; gone > 0;) gone = await store.expire(iso(BASE + 6_000 * MINUTE), 1_000);
      expect(await store.hours(EVER)).toEqual({ hours: [] });
    });

    it('have nothing of the records that are dead', async (store, { spoil }) => {
      await spoil('bad', 'no');
      const huge = identify({ second: 'x'.repeat(150_000) });
      await store.write([identify({ first: 'x'.repeat(150_000) })]);
      await store.write([event({ event: 'bad' }), event(), huge, huge]);
      expect((await rowsOf(store)).length).toBe(2);
      await expectSums(store);
    });

    it('come with the rows of another store, once', async (store) => {
      const rows = many(30).map((record, n) => ({ ...rowOf(record), arrivals: 1 + (n % 3) }));
      await store.adopt({ rows: rows.slice(0, 20) });
      await store.adopt({ rows });
      await store.adopt({ rows });
      expect(await rowsOf(store)).toHaveLength(30);
      await expectSums(store);
    });

    it('have 500 pairs of channel and event for each hour and project, and one for the rest', async (store) => {
      const records = times(MAX_PAIRS + 120, (n) =>
        event({ event: `e${n}`, user_id: `u${n % 2}` }, timesOf(0)),
      );
      await store.write(records.slice(0, 300));
      await store.write(records.slice(250));
      await store.write(records);
      const others = [
        event({ event: 'e9999' }, timesOf(60 * MINUTE)),
        event({ event: 'e9999', project: 'q' }, timesOf(0)),
        event({ event: 'long'.repeat(1_000) }, timesOf(60 * MINUTE)),
      ];
      await store.write(others);
      const rest = { channel: '…', event: ['…'] };
      const sum = async (filter: Partial<HourFilter>) => (await hoursOf(store, filter))[0]?.rows;
      expect(await sum({ project: 'p', channel: 'c' })).toBe(MAX_PAIRS);
      expect(await hoursOf(store, { ...rest, project: 'p' })).toMatchObject([
        { rows: 120, repeats: 120 },
        { rows: 1, repeats: 0 },
      ]);
      expect(await sum({ project: 'q', event: ['e9999'] })).toBe(1);
      expect(await hoursOf(store)).toEqual(sumsOf(await rowsOf(store)));
      // What is erased of a name is taken off where it was summed.
      await store.erase({ project: 'p', user_id: 'u0' });
      await store.write([event({ event: 'e0' }, timesOf(1)), event({ event: 'new' }, timesOf(1))]);
      expect(await hoursOf(store)).toEqual(sumsOf(await rowsOf(store)));
      expect(await sum({ project: 'p', event: ['e0'] })).toBe(1);
      await store.erase({ project: 'p', user_id: 'u1' });
      expect(await hoursOf(store)).toEqual(sumsOf(await rowsOf(store)));
      await store.expire(iso(BASE + 600 * MINUTE), 1_000);
      expect(await store.hours(EVER)).toEqual({ hours: [] });
    });

    it('are whole after some time with rows that are older than they', async (store, world) => {
      const old = many(2_300);
      await store.write(old);
      await store.write(old.slice(0, 50));
      await store.close();
      await world.takeBack();
      const [one, other] = [await world.open(), await world.open()];
      const first = await one.hours(EVER);
      const last = Math.max(...old.map(({ receivedAt }) => Date.parse(receivedAt)));
      expect(Date.parse(first.whole_from!)).toBeGreaterThan(last);
      expect(Date.parse(first.whole_from!)).toBeLessThanOrEqual(last + 60 * MINUTE);
      // All of it while older rows are summed.
      const written = many(40, 'new');
      await Promise.all([
        one.write([...written, ...old.slice(-30), ...old.slice(0, 30)]),
        other.write([...old.slice(900, 1_200), ...written.slice(0, 5)]),
        other.erase({ project: 'q', user_id: 'u2' }),
        one.expire(old[100]!.receivedAt, 50),
      ]);
      await other.write(old.slice(1_500, 1_600));
      expect((await one.hours(EVER)).whole_from).toBe(first.whole_from);
      await one.erase({ project: 'p', user_id: 'u1' });
      await vi.waitFor(
        async () => expect((await one.hours(EVER)).whole_from).toBeUndefined(),
        30_000,
      );
      expect(await one.rows({}, ALL)).not.toEqual([]);
      await expectSums(one);
      await other.write(old.slice(0, 500));
      await expectSums(other);
    });

    it('have processes of different versions fail to write, and bury nothing for it', async (store, world) => {
      await store.write([event()]);
      await world.takeBack();
      const record = event();
      await expect(store.write([record, identify({})])).rejects.toThrow(/no such table|not exist/);
      const next = await world.open();
      expect(await next.refused(ALL)).toEqual([]);
      expect(await next.write([record])).toEqual([STORED]);
      expect(await store.write([record])).toEqual([KNOWN]); // it has the tables again that it knows
    });

    it('are summed on by the next process, where the last one was closed', async (store, world) => {
      const old = many(30 * PIECE + 20);
      await store.write(old);
      await store.close();
      await world.takeBack();
      await (await world.open()).close();
      const next = await world.open();
      await vi.waitFor(
        async () => expect((await next.hours(EVER)).whole_from).toBeUndefined(),
        30_000,
      );
      await expectSums(next);
      await next.clear();
      expect(await next.hours(EVER)).toEqual({ hours: [] });
    });
  });
};
