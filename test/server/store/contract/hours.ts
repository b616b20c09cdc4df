import { describe, expect } from 'vitest';
import type { Incoming } from '../../../../src/server/incoming.js';
import { MAX_PAIRS } from '../../../../src/server/store/hours.js';
import type { Hour, HourFilter, Row, Store } from '../../../../src/server/store/port.js';
import {
  ALL,
  event,
  identify,
  refusal,
  rowOf,
  rowsOf,
  scenarioOf,
  times,
  type Part,
} from './scenario.js';
import { caughtUp } from '../../support/patient.js';

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

type Sum = Omit<Hour, 'repeats'>;

/** The sums as the rows have them. */
const sumsOf = (rows: readonly Row[]): Sum[] => {
  const sums = new Map<string, Sum>();
  for (const { received_at, called_at, from_server } of rows) {
    const hour = `${received_at.slice(0, 13)}:00:00.000Z`;
    const none = { rows: 0, in_2s: 0, in_1m: 0, in_1h: 0, later: 0, from_server: 0 };
    const sum = sums.get(hour) ?? { hour, ...none };
    const delay = Date.parse(received_at) - Date.parse(called_at);
    sum.rows++;
    if (from_server) sum.from_server++;
    else
      sum[
        delay <= 2_000
          ? 'in_2s'
          : delay <= 60_000
            ? 'in_1m'
            : delay <= 3_600_000
              ? 'in_1h'
              : 'later'
      ]++;
    sums.set(hour, sum);
  }
  return [...sums.values()].sort((a, b) => (a.hour < b.hour ? -1 : 1));
};
/** The hours that have rows, and not only repeats of rows. */
const sumsIn = (hours: readonly Hour[]): Sum[] =>
  hours.filter(({ rows }) => rows > 0).map(({ repeats: _, ...sum }) => sum);
const hoursOf = async (store: Store, filter: Partial<HourFilter> = {}): Promise<Sum[]> =>
  sumsIn((await store.hours({ ...EVER, ...filter })).hours);
const repeatsOf = async (store: Store, filter: Partial<HourFilter> = {}): Promise<number> =>
  (await store.hours({ ...EVER, ...filter })).hours.reduce((sum, { repeats }) => sum + repeats, 0);

/** Compares the sums of all rows, and of each project, channel and event. */
const expectSums = async (store: Store): Promise<void> => {
  const rows = await rowsOf(store);
  const { hours, events = [] } = await store.hours({ ...EVER, split: true });
  expect(sumsIn(hours)).toEqual(sumsOf(rows));
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
    if (n % 7 === 2) Object.assign(record, { fromServer: true });
    const body = { project: n % 5 ? 'p' : 'q', user_id: `u${n % 3}` };
    if (n % 4 === 3) return identify({ n }, record, body);
    return event({ ...body, channel: n % 2 ? 'c' : 'ü "', event: `${name} ${n % 3}` }, record);
  });

const OLDER = [
  ['were summed', 3, false],
  ['were not all summed yet', 3, true],
  ['are from before there were sums', 1, true],
] as const;

/** The sums of rows by hour of arrival, which are kept beside the rows. */
export const describeHours: Part = (name, enter) => {
  const it = scenarioOf(enter);

  describe(`the sums by hour of ${name}`, () => {
    it('agree with the rows, after repeats too', async (store, { open }) => {
      const other = await open();
      expect(await hoursOf(store)).toEqual([]);
      const records = many(60);
      await store.write([...records, records[3]!, records[4]!, records[4]!]);
      await Promise.all([
        other.write(records.slice(0, 9)),
        store.write(records.slice(5, 20).map(again)),
      ]);
      expect((await rowsOf(store)).some(({ arrivals }) => arrivals > 2)).toBe(true);
      await expectSums(store);
      const repeats = (await rowsOf(store)).reduce((sum, { arrivals }) => sum + arrivals - 1, 0);
      expect(await repeatsOf(store)).toBe(repeats);
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
      expect(await hoursOf(store)).toEqual([]);
      await store.write(records);
      await expectSums(store);
      await store.write(many(10));
      for (let gone = 1; gone > 0;) gone = await store.expire(iso(BASE + 6_000 * MINUTE), 1_000);
      expect(await hoursOf(store)).toEqual([]);
    });

    it('have nothing of the records that are dead', async (store, { spoil }) => {
      await spoil('bad', 'no');
      await store.write([event({ event: 'bad' }), event(), identify({})]);
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
      expect(await repeatsOf(store)).toBe(30);
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
        { rows: 120 },
        { rows: 1 },
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
      expect(await hoursOf(store)).toEqual([]);
    });

    it('have the repeats of a project by the hour in which they come', async (store) => {
      const records = many(20);
      await store.write(records);
      expect(await repeatsOf(store)).toBe(0);
      await store.write([...records.slice(0, 8), records[0]!, event()].map(again));
      expect(await repeatsOf(store)).toBe(9);
      const ofProject = (project: string) =>
        [...records.slice(0, 8), records[0]!].filter(({ body }) => body.project === project).length;
      for (const project of ['p', 'q'])
        expect(await repeatsOf(store, { project })).toBe(ofProject(project));
      const { hours, events } = await store.hours({ ...EVER, split: true });
      expect(hours.filter(({ repeats }) => repeats)).toHaveLength(1);
      for (const { rows } of events!) expect(rows).toHaveLength(hours.length);
      await store.expireRefused(new Date(Date.now() + 3_600_000).toISOString());
      expect(await repeatsOf(store)).toBe(0);
    });

    for (const [words, version, isUnsummed] of OLDER)
      it(`are those of a store of version ${version} whose rows ${words}`, async (store, world) => {
        // An older build did not tell them apart.
        const old = many(400).map(({ fromServer: _, ...record }) => record);
        await store.write([...old, ...old.slice(0, 50)]);
        await caughtUp(store);
        const profiles = await store.profiles({}, ALL);
        const counts = await store.counts();
        await store.close();
        await world.takeBack(version, isUnsummed);
        const [one, other] = [await world.open(), await world.open()];
        const fresh = many(40, 'new');
        await Promise.all([
          one.write([...fresh, ...old.filter(({ body }) => body.project === 'p').slice(-30)]),
          other.refuse([refusal()]),
        ]);
        await other.erase({ project: 'q', user_id: 'u2' });
        await expectSums(one);
        await expectSums(other);
        expect(await repeatsOf(one)).toBe(80);
        expect(await one.refused(ALL)).toHaveLength(1);
        expect((await one.profiles({}, ALL)).length).toBe(profiles.length - 1);
        expect(counts).not.toEqual(await one.counts());
      });
  });
};
