import { expect, it } from 'vitest';
import {
  changeOf,
  overviewOf,
  spanOf,
  sumsOf,
} from '../../../src/server/rows/page/state/overview.js';
import type { Row } from '../../../src/server/store/port.js';

const NOW = Date.parse('2026-11-25T14:20:00.000Z');
const HOUR_MS = 3_600_000;

const sumsAt = (hoursAgo: number, rows: number, repeats = 0) => ({
  hour: new Date(Date.parse('2026-11-25T14:00:00.000Z') - hoursAgo * HOUR_MS).toISOString(),
  ...{ rows, repeats, in_2s: rows, in_1m: 0, in_1h: 0, later: 0, from_server: 0 },
});

it('has a bar for each hour of a day, with the day before it, and compares whole hours', () => {
  const span = spanOf('24h', NOW);
  expect(span.bounds).toHaveLength(25);
  // Whole hours: 5 rows now, 4 the day before. The hour that runs, and the one a day ago, are in the bars alone.
  const hours = [sumsAt(47, 3), sumsAt(25, 1), sumsAt(24, 7), sumsAt(1, 5, 2), sumsAt(0, 9)];
  const overview = overviewOf({ hours, events: [] }, span, NOW);
  expect(overview.bars.slice(-2)).toEqual([5, 9]);
  expect(overview.barsBefore.slice(-2)).toEqual([1, 7]);
  expect(overview.barsBefore[0]).toBe(3);
  expect(overview.totals).toMatchObject({ rows: 14, repeats: 2, in_2s: 14 });
  expect(changeOf(overview.whole.rows, overview.before.rows)).toBe(0.25);
  expect(changeOf(3, 0)).toBeUndefined();
});

it('ranks events over all channels, and stacks all but the first seven as one', () => {
  const event = (name: string, rows: number[], channel = 'web') => ({ channel, event: name, rows });
  const events = [
    ...Array.from({ length: 9 }, (_, at) => event(`e${at}`, [0, 20 - at])),
    event('e8', [0, 100], 'app'),
    event('gone', [6, 0]),
    event('', [1, 4], ''),
    event('…', [0, 2], '…'),
  ];
  const hours = [sumsAt(30, 7), sumsAt(1, 262)];
  const { ranking, stacked } = overviewOf({ hours, events }, spanOf('24h', NOW), NOW);
  expect(ranking[0]).toMatchObject({ kind: 'event', name: 'e8', total: 112, before: 0 });
  expect(ranking.at(-1)).toMatchObject({ name: 'gone', total: 0, before: 6 });
  expect(ranking.find(({ kind }) => kind === 'identify')).toMatchObject({ total: 4, before: 1 });
  expect(stacked.map(({ name }) => name)).toEqual(['e8', 'e0', 'e1', 'e2', 'e3', 'e4', 'e5', '']);
  // The list of all names has the colours of the bars.
  expect(ranking.map(({ hue }) => hue)).toEqual([0, 1, 2, 3, 4, 5, 6, ...Array(4).fill(undefined)]);
  expect(stacked.at(-1)).toMatchObject({ kind: 'others', total: 14 + 13 + 4 + 2 });
  const sum = stacked.reduce((all, { total }) => all + total, 0);
  expect(sum).toBe(events.reduce((all, { rows }) => all + rows[1]!, 0));
});

it('has bars of days and of quarters of days by the clock of the reader, up to now', () => {
  const days = spanOf('30d', NOW).bounds;
  expect(days).toHaveLength(31);
  for (const bound of days) expect(new Date(bound).getHours()).toBe(0);
  const quarters = spanOf('7d', NOW).bounds;
  expect(quarters.at(-2)).toBeLessThanOrEqual(NOW);
  expect(quarters.at(-1)).toBeGreaterThan(NOW);
});

it('sums the rows of ten minutes as the service sums those of hours', () => {
  const rowAt = (secondsAgo: number, lateMs: number, event?: string): Row => {
    const at = NOW - secondsAgo * 1000;
    const called_at = new Date(at - lateMs).toISOString();
    return {
      ...{ seq: secondsAgo, id: `${secondsAgo}`, type: event ? 'event' : 'identify', project: 'p' },
      ...(event && { event, channel: 'web' }),
      ...{ called_at, received_at: new Date(at).toISOString(), arrivals: 2, body: {} },
    } as Row;
  };
  const span = spanOf('10m', NOW);
  const rows = [rowAt(5, 100, 'a'), rowAt(6, 3_000, 'a'), rowAt(100, 61_000), rowAt(900, 0, 'a')];
  const overview = overviewOf(sumsOf(rows, span.slotMs), span, NOW);
  expect(overview.totals).toMatchObject({ rows: 3, repeats: 3, in_2s: 1, in_1m: 1, in_1h: 1 });
  expect(overview.ranking.map(({ name, total, before }) => [name, total, before])).toEqual([
    ['a', 2, 1],
    ['identify', 1, 0],
  ]);
});
