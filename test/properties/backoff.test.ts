import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  BASE_MS,
  CAP_MS,
  delayAfter,
  MAX_RETRY_AFTER_MS,
  parseRetryAfter,
} from '../../src/interface/backoff.js';
import { createGate } from '../../src/client/delivery/gate.js';

const NOW = Date.UTC(2026, 0, 1, 12);
const failures = fc.nat(5_000);
const wish = fc.nat(MAX_RETRY_AFTER_MS);
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe('a delay', () => {
  it('is never below the wish, and never further above it than its jitter', () => {
    fc.assert(
      fc.property(failures, wish, chance, (n, floor, draw) => {
        const delay = delayAfter(n, floor, () => draw);
        expect(delay).toBeGreaterThanOrEqual(floor);
        expect(delay - floor).toBeLessThanOrEqual(CAP_MS);
        expect(delay - floor).toBeLessThanOrEqual(BASE_MS * 2 ** n);
      }),
    );
  });

  it('has jitter over all of its width', () => {
    fc.assert(
      fc.property(failures, wish, chance, (n, floor, draw) => {
        const at = (value: number) => delayAfter(n, floor, () => value) - floor;
        expect(at(0)).toBe(0);
        expect(at(draw)).toBeCloseTo(draw * at(1), 3);
        expect(at(1)).toBeGreaterThanOrEqual(BASE_MS);
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
      { numRuns: 300 },
    );
  });

  it('comes through as seconds and as a date', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 5_000 }), (seconds) => {
        const wanted = Math.min(seconds * 1_000, MAX_RETRY_AFTER_MS);
        expect(parseRetryAfter(String(seconds), NOW)).toBe(wanted);
        const date = new Date(NOW + seconds * 1_000).toUTCString();
        expect(parseRetryAfter(date, NOW)).toBe(wanted);
      }),
    );
  });
});

describe('a gate', () => {
  type Step =
    | { do: 'close'; wish: number; again: boolean }
    | { do: 'open' }
    | { do: 'reserve'; ms: number }
    | { do: 'wait'; ms: number };
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({
      do: fc.constant('close' as const),
      wish: fc.oneof(fc.constant(0), wish),
      again: fc.boolean(),
    }),
    fc.record({ do: fc.constant('open' as const) }),
    fc.record({ do: fc.constant('reserve' as const), ms: fc.nat(10_000) }),
    fc.record({ do: fc.constant('wait' as const), ms: fc.nat(CAP_MS) }),
  );

  it('honours each wish until a request passes, and closes for no longer than any penalty', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), chance, (steps, draw) => {
        let now = NOW;
        let kept: string | undefined;
        const gate = createGate({
          load: () => kept,
          save: (value) => {
            kept = value;
            return true;
          },
          now: () => now,
          random: () => draw,
        });
        let passes = 0;
        for (const one of steps) {
          if (one.do === 'wait') now += one.ms;
          else if (one.do === 'open') {
            gate.open();
            passes++;
            expect(gate.until()).toBe(0);
            expect(gate.until()).toBeLessThanOrEqual(now);
          } else if (one.do === 'reserve') gate.reserve(one.ms);
          else {
            gate.close({
              retryAfterMs: one.wish,
              again: one.again,
              known: 0,
              isSilent: false,
            });
            passes = 0;
            expect(gate.until()).toBeGreaterThan(0);
            // The same failure, seen again, adds nothing but a wish.
            if (!one.again || one.wish > 0) {
              expect(gate.until()).toBeGreaterThanOrEqual(now + one.wish);
            }
          }
          expect(gate.until() - now).toBeLessThanOrEqual(MAX_RETRY_AFTER_MS + CAP_MS);
        }
        for (; passes < 10; passes++) gate.open();
        if (kept) expect(JSON.parse(kept)).toMatchObject({ n: 0, until: 0 });
      }),
      { numRuns: 300 },
    );
  });
});
