import { describe, expect, it } from 'vitest';
import {
  BASE_MS,
  CAP_MS,
  delayAfter,
  MAX_RETRY_AFTER_MS,
  parseRetryAfter,
} from '../../src/interface/backoff.js';

const NOW = Date.UTC(2026, 0, 1, 12);

describe('Retry-After', () => {
  it.each([
    ['0', 0],
    ['1', 1_000],
    ['120', 120_000],
    [' 120 ', 120_000],
    ['120, 120', 120_000],
    ['7,5', 7_000],
    ['3600', MAX_RETRY_AFTER_MS],
  ])('%j is seconds', (value, ms) => {
    expect(parseRetryAfter(value, NOW)).toBe(ms);
  });

  const DATE = 'Thu, 01 Jan 2026 12:00:30 GMT';
  it.each([DATE, `${DATE}, ${DATE}`])('may be a date (%j)', (value) => {
    expect(parseRetryAfter(value, NOW)).toBe(30_000);
  });

  it.each(['Thu, 01 Jan 2026 11:00:00 GMT', 'Thu, 01 Jan 1970 00:00:00 GMT'])(
    'in the past (%j) is no wish',
    (value) => {
      expect(parseRetryAfter(value, NOW)).toBe(0);
    },
  );

  it.each(['99999999', '9'.repeat(400), 'Fri, 01 Jan 2027 12:00:00 GMT'])(
    'of %j is clamped to an hour',
    (value) => {
      expect(parseRetryAfter(value, NOW)).toBe(MAX_RETRY_AFTER_MS);
    },
  );

  it.each([null, '', 'soon', '-5', '1.5', '0x10', '1e9', '+5', 'NaN', 'Infinity', '5s', ', 2'])(
    '%j is not taken for a long wait',
    (value) => {
      const ms = parseRetryAfter(value, NOW);
      expect(ms).toBeGreaterThanOrEqual(0);
      expect(ms).toBe(0);
    },
  );
});

describe('the delay', () => {
  const most = (failures: number, retryAfterMs = 0) => delayAfter(failures, retryAfterMs, () => 1);
  const least = (failures: number, retryAfterMs = 0) => delayAfter(failures, retryAfterMs, () => 0);

  it('doubles from a second to five minutes', () => {
    expect([0, 1, 2, 3].map((n) => most(n))).toEqual([1, 2, 4, 8].map((n) => n * BASE_MS));
    expect(most(9)).toBe(CAP_MS);
    expect(most(40)).toBe(CAP_MS);
    expect(most(5_000)).toBe(CAP_MS);
  });

  it('has full jitter', () => {
    expect(least(5)).toBe(0);
    expect(delayAfter(3, 0, () => 0.25)).toBe(2_000);
  });

  it("is never below the server's wish, and spread above it", () => {
    expect(least(0, 60_000)).toBe(60_000);
    expect(most(0, 60_000)).toBe(61_000);
    expect(most(20, 60_000)).toBe(360_000);
  });
});
