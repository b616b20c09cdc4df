import { expect, it } from 'vitest';
import { createRate } from '../../../src/server/rows/page/state/rate.js';

const NOW = Date.parse('2026-11-25T14:00:00.000Z') - 1;

it('knows the rate of this moment, without the second that has not ended', () => {
  const rate = createRate();
  for (let at = 0; at < 10; at++) rate.count(NOW - 1000);
  rate.count(NOW);
  expect(rate.current(NOW)).toBe(2);
});

it('still knows it after an hour of rows', () => {
  const rate = createRate();
  for (let second = 0; second < 3600; second++) rate.count(NOW - (3600 - second) * 1000);
  expect(rate.current(NOW)).toBe(1);
});
