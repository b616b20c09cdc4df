import { describe, expect, it } from 'vitest';
import { wilson } from '../../../lab/matrix/wilson.js';

describe('wilson', () => {
  it('is what the literature gives', () => {
    // Newcombe 1998, Two-sided confidence intervals for the single proportion, table I, method 3.
    const cases: [number, number, number, number][] = [
      [81, 263, 0.2553, 0.3662],
      [15, 148, 0.0624, 0.1605],
      [0, 20, 0, 0.1611],
      [1, 29, 0.0061, 0.1718],
    ];
    for (const [successes, trials, low, high] of cases) {
      const [from, to] = wilson(successes, trials);
      expect(from).toBeCloseTo(low, 4);
      expect(to).toBeCloseTo(high, 4);
    }
  });

  it('stays within 0 and 1, and knows nothing without trials', () => {
    expect(wilson(200, 200)[1]).toBeCloseTo(1, 9);
    expect(wilson(200, 200)[0]).toBeGreaterThan(0.98);
    expect(wilson(0, 0)).toEqual([0, 1]);
  });
});
