import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createBackoff } from '../../../src/client/delivery/backoff.js';
import {
  BASE_MS,
  CAP_MS,
  MAX_RETRY_AFTER_MS,
  parseRetryAfter,
  waitInTrouble,
} from '../../../src/interface/backoff.js';
import { createLocalStorage } from '../../support/local-storage.js';

const NOW = Date.UTC(2026, 0, 1, 12);
const wish = fc.integer({ min: 1, max: MAX_RETRY_AFTER_MS });
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe('the wait after a failure', () => {
  it('is at most half of the trouble, or a second, and at least half of that', () => {
    const trouble = fc.integer({ min: -1e9, max: 1e9 });
    fc.assert(
      fc.property(trouble, chance, (troubleMs, draw) => {
        const most = Math.min(CAP_MS, Math.max(BASE_MS, troubleMs / 2));
        const wait = waitInTrouble(troubleMs, draw);
        expect(wait).toBeGreaterThanOrEqual(most / 2);
        expect(wait).toBeLessThanOrEqual(most);
      }),
    );
  });
});

describe('Retry-After', () => {
  it('of any text is from nothing to an hour', () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.stringMatching(/^[\d +.eE:-]{0,20}$/),
      fc.double().map(String),
      fc.date().map(String),
      fc.constant(null),
    );
    fc.assert(
      fc.property(texts, fc.integer({ min: -8.64e15, max: 8.64e15 }), (value, now) => {
        const ms = parseRetryAfter(value, now);
        expect(ms).toBeGreaterThanOrEqual(0);
        expect(ms).toBeLessThanOrEqual(MAX_RETRY_AFTER_MS);
      }),
    );
  });
});

describe('a destination in trouble', () => {
  beforeEach(() => void vi.stubGlobal('localStorage', createLocalStorage()));
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
  });

  type Step =
    { do: 'fail'; wish: number } | { do: 'end' } | { do: 'online' } | { do: 'wait'; ms: number };
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ do: fc.constant('fail' as const), wish: fc.oneof(fc.constant(0), wish) }),
    fc.record({ do: fc.constant('end' as const) }),
    fc.record({ do: fc.constant('online' as const) }),
    fc.record({ do: fc.constant('wait' as const), ms: fc.nat(CAP_MS) }),
  );

  it('honours each wish until it is over, and is never closed for longer than any wait', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), chance, (steps, draw) => {
        let now = NOW;
        vi.spyOn(Math, 'random').mockReturnValue(draw);
        const trouble = createBackoff('gate', () => now);
        trouble.end();
        let wished = 0;
        for (const one of steps) {
          if (one.do === 'wait') now += one.ms;
          else if (one.do === 'online') trouble.online();
          else if (one.do === 'end') {
            trouble.end();
            wished = 0;
          } else {
            trouble.failed(one.wish);
            if (one.wish) wished = Math.max(wished, now + one.wish);
            expect(trouble.read().until).toBeGreaterThan(now);
          }
          const { until } = trouble.read();
          if (wished > now) expect(until).toBeGreaterThanOrEqual(wished);
          expect(until - now).toBeLessThanOrEqual(MAX_RETRY_AFTER_MS + CAP_MS);
        }
      }),
      { numRuns: 300 },
    );
  });
});
