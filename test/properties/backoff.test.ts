import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  BASE_MS,
  CAP_MS,
  delayAfter,
  MAX_RETRY_AFTER_MS,
  parseRetryAfter,
  waitAfter,
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

describe('the wait after a failure', () => {
  const trouble = fc.integer({ min: -1e9, max: 1e9 });

  it('is at most half of the trouble, or a second, and at least half of that', () => {
    fc.assert(
      fc.property(trouble, chance, (troubleMs, draw) => {
        const most = Math.min(CAP_MS, Math.max(BASE_MS, troubleMs / 2));
        const wait = waitAfter(troubleMs, 0, () => draw);
        expect(wait).toBeGreaterThanOrEqual(most / 2);
        expect(wait).toBeLessThanOrEqual(most);
      }),
    );
  });

  it('is never below the wish, and above it by half of it, or five minutes, at most', () => {
    fc.assert(
      fc.property(wish, chance, (floor, draw) => {
        const wait = waitAfter(0, floor, () => draw);
        expect(wait).toBeGreaterThanOrEqual(floor);
        expect(wait).toBeLessThanOrEqual(Math.max(BASE_MS, floor + Math.min(CAP_MS, floor / 2)));
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
    { do: 'close'; wish: number } | { do: 'open' } | { do: 'hasten' } | { do: 'wait'; ms: number };
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ do: fc.constant('close' as const), wish: fc.oneof(fc.constant(0), wish) }),
    fc.record({ do: fc.constant('open' as const) }),
    fc.record({ do: fc.constant('hasten' as const) }),
    fc.record({ do: fc.constant('wait' as const), ms: fc.nat(CAP_MS) }),
  );

  it('honours each wish, is open after the last of them, and never closed for longer than any wait', () => {
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
        let floor = 0;
        for (const one of steps) {
          if (one.do === 'wait') now += one.ms;
          else if (one.do === 'open') gate.open();
          else if (one.do === 'hasten') gate.hasten(0);
          else {
            gate.close(one.wish);
            if (one.wish > 0) floor = Math.max(floor, now + one.wish);
            expect(gate.until()).toBeGreaterThan(now);
          }
          if (floor > now) expect(gate.until()).toBeGreaterThanOrEqual(floor);
          expect(gate.until() - now).toBeLessThanOrEqual(MAX_RETRY_AFTER_MS + CAP_MS);
        }
        now = Math.max(now, floor);
        gate.open();
        expect(gate.until()).toBe(0);
      }),
      { numRuns: 300 },
    );
  });
});
