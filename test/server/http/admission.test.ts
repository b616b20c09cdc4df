import { describe, expect, it } from 'vitest';
import { createRateLimit } from '../../../src/server/http/admission.js';

describe('a rate limit', () => {
  it('lets a burst through, then so many a second', () => {
    let time = 0;
    const limit = createRateLimit({ perSecond: 10, burst: 20 }, () => time);
    expect(limit('a', 20)).toBe(0);
    expect(limit('a', 0)).toBe(100);
    time = 50;
    expect(limit('a', 0)).toBe(50);
    time = 100;
    expect(limit('a', 1)).toBe(0);
    time = 1_000_000;
    expect(limit('a', 20)).toBe(0);
    expect(limit('a', 0)).toBe(100);
  });

  it('lets a batch larger than the bucket through, which has to be paid off', () => {
    let time = 0;
    const limit = createRateLimit({ perSecond: 10, burst: 20 }, () => time);
    expect(limit('a', 100)).toBe(0);
    expect(limit('a', 0)).toBe(8_100);
    time = 8_100;
    expect(limit('a', 0)).toBe(0);
  });

  it('charges what does not pass, too, down to a debt of one burst', () => {
    let time = 0;
    const limit = createRateLimit({ perSecond: 10, burst: 20 }, () => time);
    expect([20, 15, 100, 100].map((records) => limit('a', records))).toEqual([
      ...[0, 1_600, 2_100, 2_100],
    ]);
    time = 2_100;
    expect([100, 1].map((records) => limit('a', records))).toEqual([0, 10_000]);
  });

  it('counts each client by itself, and those without an address as one', () => {
    const limit = createRateLimit({ perSecond: 1, burst: 1 }, () => 0);
    expect([limit('a', 1), limit('b', 1), limit(undefined, 1)]).toEqual([0, 0, 0]);
    expect([limit('a', 0), limit(undefined, 0)]).toEqual([1_000, 1_000]);
  });

  it('forgets the client it has not seen for longest', () => {
    const limit = createRateLimit({ perSecond: 1, burst: 1 }, () => 0);
    void limit('first', 1);
    void limit('second', 1);
    for (let client = 0; client < 9_998; client++) void limit(`c${client}`, 1);
    expect(limit('first', 0)).toBe(1_000);
    void limit('one more', 1);
    expect(limit('first', 0)).toBe(1_000);
    expect(limit('second', 0)).toBe(0);
  });

  it('does not fill by a clock that is set back', () => {
    let time = 10_000;
    const limit = createRateLimit({ perSecond: 1, burst: 1 }, () => time);
    expect(limit('a', 1)).toBe(0);
    time = 0;
    expect(limit('a', 0)).toBe(1_000);
  });
});
