import { expect, it } from 'vitest';
import { daysOf, visitsOf } from '../../../src/server/rows/page/state/visits.js';
import type { Row } from '../../../src/server/store/port.js';

const BASE = new Date(2026, 10, 25, 12).getTime();
const MINUTE_MS = 60_000;
let seq = 0;
/** A row that was called so many minutes after noon, and came so many minutes later. */
const row = (minute: number, event: string, waited = 0): Row => {
  const at = BASE + minute * MINUTE_MS;
  const iso = (ms: number) => new Date(ms).toISOString();
  return {
    ...{ seq: ++seq, id: `r${seq}`, type: 'event', project: 'p', event, body: {}, arrivals: 1 },
    ...{ called_at: iso(at), received_at: iso(at + waited * MINUTE_MS) },
  } as Row;
};

it('shows what waited and came together as one stretch, before its calls', () => {
  const visits = visitsOf([
    ...[row(0, 'View'), row(1, 'Search', 14), row(2, 'Add', 13), row(15, 'Add'), row(16, 'Add')],
    row(200, 'Later'),
  ]);
  const told = visits.map(({ entries }) =>
    entries.map(({ kind, rows }) => `${kind} ${rows.map(({ event }) => event).join(' ')}`),
  );
  expect(told).toEqual([
    ['calls Later'],
    ['calls Add Add', 'waited Add Search', 'calls Add', 'calls Search', 'calls View'],
  ]);
  expect(visits.map(({ count }) => count)).toEqual([1, 5]);
});

it('does not say that what a server has sent late has waited in a browser', () => {
  const [visit] = visitsOf([{ ...row(1, 'Paid', 90), from_server: true }, row(2, 'View')]);
  expect(visit!.entries.map(({ kind }) => kind)).toEqual(['calls', 'calls']);
});

it('keeps apart what waited at different times', () => {
  const [visit] = visitsOf([row(0, 'A', 5), row(20, 'B', 5)]);
  expect(visit!.entries.filter(({ kind }) => kind === 'waited')).toHaveLength(2);
});

it('counts rows by the days of the reader', () => {
  const days = daysOf(
    [row(0, 'A'), row(1, 'A'), row(-24 * 60, 'A'), row(-40 * 24 * 60, 'A')],
    BASE,
    30,
  );
  expect(days.map(({ rows }) => rows)).toEqual([...Array.from({ length: 28 }, () => 0), 1, 2]);
});
