import { expect, it } from 'vitest';
import { BAR_S, BARS, createRate, WINDOW_S } from '../../../src/server/rows/page/state/rate.js';

/** The end of a bar. */
const NOW = Date.parse('2026-11-25T14:00:00.000Z') - 1;

it('counts records into bars of the last ten minutes', () => {
  const rate = createRate(0);
  for (const at of [NOW, NOW - 1000, NOW - BAR_S * 1000, NOW - WINDOW_S * 1000]) rate.count(at);
  const bars = rate.bars(NOW);
  expect(bars).toHaveLength(BARS);
  expect(bars.slice(-2)).toEqual([1, 2]);
  expect(bars.reduce((sum: number, count) => sum + (count ?? 0), 0)).toBe(3);
});

it('says nothing of the time that it has not seen', () => {
  const rate = createRate(NOW - 60_000);
  const unknown = rate.bars(NOW).filter((count) => count === undefined);
  expect(unknown).toHaveLength(BARS - 60 / BAR_S - 1);
});

it('knows the rate of this moment, without the second that has not ended', () => {
  const rate = createRate(0);
  for (let at = 0; at < 10; at++) rate.count(NOW - 1000);
  rate.count(NOW);
  expect(rate.current(NOW)).toBe(2);
});

it('knows the busiest second of the bars, which is never less than the rate of this moment', () => {
  const rate = createRate(0);
  for (let at = 0; at < 30; at++) rate.count(NOW - WINDOW_S * 1000);
  // A burst across two bars.
  for (let at = 0; at < 20; at++) rate.count(NOW - BAR_S * 1000);
  for (let at = 0; at < 10; at++) rate.count(NOW - BAR_S * 1000 + 1000);
  expect(rate.peak(NOW)).toBe(20);
  expect(createRate(0).peak(NOW)).toBe(0);
});

it('keeps as much for an hour as for ten minutes', () => {
  const rate = createRate(0);
  for (let second = 0; second < 3600; second++) rate.count(NOW - (3600 - second) * 1000);
  expect(rate.bars(NOW - 1000).at(-1)).toBeGreaterThan(0);
  expect(rate.bars(NOW - 3_500_000).every((count) => !count)).toBe(true);
});
