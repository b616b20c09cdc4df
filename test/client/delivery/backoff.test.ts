import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createBackoff } from '../../../src/client/delivery/backoff.js';
import { BASE_MS, CAP_MS, MAX_RETRY_AFTER_MS } from '../../../src/interface/backoff.js';
import { createLocalStorage } from '../../support/local-storage.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let time: number;
const open = () => createBackoff('gate');

beforeEach(() => {
  time = 1_000_000;
  vi.spyOn(Date, 'now').mockImplementation(() => time);
  vi.stubGlobal('localStorage', createLocalStorage());
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

type Step =
  { do: 'fail'; wish: number } | { do: 'end' } | { do: 'online' } | { do: 'wait'; ms: number };
const wish = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: MAX_RETRY_AFTER_MS }));
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('fail' as const), wish }),
  fc.record({ do: fc.constant('end' as const) }),
  fc.record({ do: fc.constant('online' as const) }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.nat(CAP_MS) }),
);
const steps = fc.array(fc.tuple(fc.nat(1), step), { maxLength: 30, size: 'max' });
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe('a destination', () => {
  it('is closed for all pages by failures, as long as the rule says, and opened by a success', () => {
    fc.assert(
      fc.property(steps, chance, (steps, draw) => {
        vi.spyOn(Math, 'random').mockReturnValue(draw);
        const pages = [open(), open()];
        pages[0]!.end();
        let since = 0;
        for (const [which, one] of steps) {
          const page = pages[which]!;
          const before = page.read();
          if (one.do === 'wait') time += one.ms;
          else if (one.do === 'fail') page.failed(one.wish);
          else page[one.do]();
          const { until, isAsked } = page.read();
          const wait = until - time;
          const stays = before.until - time;
          if (one.do === 'end') {
            since = 0;
            expect(until).toBe(0);
          } else if (one.do === 'fail' && (one.wish || !before.until)) {
            since ||= time;
            const most = Math.min(CAP_MS, Math.max(BASE_MS, (time - since) / 2));
            const longest = one.wish + Math.min(CAP_MS, one.wish / 2);
            expect(wait).toBeGreaterThanOrEqual(Math.max(most / 2, one.wish, stays));
            expect(wait).toBeLessThanOrEqual(Math.max(most, longest, stays));
            expect(isAsked).toBe(one.wish > 0);
          } else if (one.do === 'online' && before.until && !before.isAsked) {
            expect(wait).toBeLessThanOrEqual(2_000);
          } else if (stays > 0) {
            expect(page.read()).toEqual(before);
          } else {
            expect(until).toBe(0);
          }
          expect(pages[1]!.read()).toEqual(pages[0]!.read());
        }
      }),
      { numRuns: 300 },
    );
  });

  it('is open where the clock was set back since', () => {
    const trouble = open();
    trouble.failed(60 * MINUTE);
    time -= DAY;
    expect(trouble.read().until).toBe(0);
  });

  it('waits longer the longer the trouble lasts after the clock was set back, too', () => {
    time += DAY;
    const trouble = open();
    trouble.failed(0);
    time -= DAY;
    trouble.failed(0);
    time += 4 * MINUTE;
    trouble.failed(0);
    expect(trouble.read().until).toBeGreaterThanOrEqual(time + MINUTE);
  });

  it('is remembered by the page where localStorage is full', () => {
    const trouble = open();
    vi.stubGlobal(
      'localStorage',
      createLocalStorage(new Map(), () => 0),
    );
    trouble.failed(0);
    expect(trouble.read().until).toBeGreaterThan(time);
  });
});
