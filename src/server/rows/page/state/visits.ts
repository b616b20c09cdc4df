import { delayMs, LATE_MS } from '../../../../show/times.js';
import type { Row } from '../../../store/port.js';

/** A pause of this length between two calls ends a visit. */
const VISIT_GAP_MS = 30 * 60_000;
/** Rows that waited came together if they arrived within this time. */
const TOGETHER_MS = 60_000;

const calledAt = (row: Row): number => Date.parse(row.called_at);
const arrivedAt = (row: Row): number => Date.parse(row.received_at);

/** Whether a row waited in a browser. */
export const hasWaited = (row: Row): boolean => !row.from_server && delayMs(row) >= LATE_MS;

/** Calls of one name that stand together; or rows that had to wait, which came together. */
export type Entry = { kind: 'calls'; rows: Row[] } | { kind: 'waited'; rows: Row[] };

export interface Visit {
  /** The newest first. A stretch that waited stands before its rows. */
  entries: Entry[];
  count: number;
  first: number;
  last: number;
}

/** The rows of a user by visits, by the time of their calls, the newest first. */
export const visitsOf = (rows: readonly Row[]): Visit[] => {
  const visits: Visit[] = [];
  let waited: Row[] | undefined;
  for (const row of [...rows].sort((a, b) => calledAt(b) - calledAt(a) || b.seq - a.seq)) {
    const at = calledAt(row);
    let visit = visits.at(-1);
    if (!visit || visit.first - at > VISIT_GAP_MS) {
      visits.push((visit = { entries: [], count: 0, first: at, last: at }));
      waited = undefined;
    }
    visit.first = at;
    visit.count++;
    if (!hasWaited(row)) waited = undefined;
    else if (waited && Math.abs(arrivedAt(waited[0]!) - arrivedAt(row)) < TOGETHER_MS)
      waited.push(row);
    else visit.entries.push({ kind: 'waited', rows: (waited = [row]) });

    const before = visit.entries.at(-1);
    const isSame =
      before?.kind === 'calls' &&
      row.type === 'event' &&
      before.rows[0]!.event === row.event &&
      hasWaited(before.rows[0]!) === hasWaited(row);
    if (isSame) before.rows.push(row);
    else visit.entries.push({ kind: 'calls', rows: [row] });
  }
  return visits;
};

/** When each of the last days began by the reader's clock, the oldest first, and when the last one ends. */
export const dayStarts = (now: number, count: number): number[] => {
  const today = new Date(now);
  return Array.from({ length: count + 1 }, (_, n) =>
    new Date(today.getFullYear(), today.getMonth(), today.getDate() - count + 1 + n).getTime(),
  );
};

/** Rows in each of the last days, the oldest day first. */
export const daysOf = (
  rows: readonly Row[],
  now: number,
  count: number,
): { at: number; rows: number }[] => {
  const starts = dayStarts(now, count);
  const within = (row: Row, n: number) =>
    calledAt(row) >= starts[n]! && calledAt(row) < starts[n + 1]!;
  return starts
    .slice(0, -1)
    .map((at, n) => ({ at, rows: rows.filter((row) => within(row, n)).length }));
};
