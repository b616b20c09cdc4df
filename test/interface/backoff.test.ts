import { describe, expect, it } from 'vitest';
import {
  BASE_MS,
  CAP_MS,
  MAX_RETRY_AFTER_MS,
  parseRetryAfter,
  waitInTrouble,
} from '../../src/interface/backoff.js';

const NOW = Date.UTC(2026, 0, 1, 12);

describe('Retry-After', () => {
  it.each<readonly [value: string | null, ms: number]>([
    ['0', 0],
    ['1', 1_000],
    ['120', 120_000],
    [' 120 ', 120_000],
    ['120, 120', 120_000],
    ['7,5', 7_000],
    ['Thu, 01 Jan 2026 12:00:30 GMT', 30_000],
    // In the past it is no wish.
    ['Thu, 01 Jan 2026 11:00:00 GMT', 0],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    // It is clamped to an hour.
    ...['3600', '99999999', '9'.repeat(400), 'Fri, 01 Jan 2027 12:00:00 GMT'].map(
      (value) => [value, MAX_RETRY_AFTER_MS] as const,
    ),
    // What is nothing of these is not taken for a long wait.
    ...[null, '', 'soon', '-5', '1.5', '0x10', '1e9', '+5', 'NaN', 'Infinity', '5s', ', 2'].map(
      (value) => [value, 0] as const,
    ),
  ])('of %j is a wait of %i ms', (value, ms) => {
    expect(parseRetryAfter(value, NOW)).toBe(ms);
  });
});

describe('the wait after a failure', () => {
  it.each([
    [0, BASE_MS],
    [1_000, BASE_MS],
    [60_000, 30_000],
    [86_400_000, CAP_MS],
    [-60_000, BASE_MS], // the clock was set back
  ])('after %i ms of trouble is at most half of it, from a second to five minutes', (ms, most) => {
    expect(waitInTrouble(ms, 1)).toBe(most);
  });

  it('is shorter by up to half of that', () => {
    expect([0, 0.5].map((random) => waitInTrouble(60_000, random))).toEqual([15_000, 22_500]);
  });
});
