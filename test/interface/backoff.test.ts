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
  it.each([DATE])('may be a date (%j)', (value) => {
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

describe('the wait after a failure', () => {
  const most = (troubleMs: number) => waitInTrouble(troubleMs, 1);
  const least = (troubleMs: number) => waitInTrouble(troubleMs, 0);

  it('is half as long as the trouble has lasted, from a second to five minutes', () => {
    expect(most(0)).toBe(BASE_MS);
    expect(most(1_000)).toBe(BASE_MS);
    expect(most(60_000)).toBe(30_000);
    expect(most(86_400_000)).toBe(CAP_MS);
  });

  it('is shorter by up to half of that', () => {
    expect(least(60_000)).toBe(15_000);
    expect(waitInTrouble(60_000, 0.5)).toBe(22_500);
  });

  it('is a second at most where the clock was set back', () => {
    expect(most(-60_000)).toBe(BASE_MS);
  });
});
