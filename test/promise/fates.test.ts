import { describe, expect, it } from 'vitest';
import { addFates, fatesOf, NO_FATES } from '../../e2e/promise/fates.js';
import { allOnce, atLeastOnce, onceOrUnknown, unknown } from '../../e2e/promise/verdicts.js';

const evidence = { made: ['a', 'b'], stored: ['a', 'b'], unknown: [], dropped: [], waiting: [] };

describe('fatesOf', () => {
  it('sorts every record into exactly one fate', () => {
    const fates = fatesOf({
      made: ['once', 'twice', 'unknown', 'dropped', 'waiting', 'lost', 'stored and unknown'],
      stored: ['once', 'twice', 'twice', 'stored and unknown', 'who'],
      unknown: ['unknown', 'stored and unknown'],
      dropped: ['dropped'],
      waiting: ['waiting'],
    });
    expect(fates).toEqual({
      once: 2,
      twice: 1,
      never: 4,
      unknown: 1,
      dropped: 1,
      waiting: 1,
      lost: 1,
      strange: 1,
    });
    expect(addFates(fates, fates)).toMatchObject({ once: 4, strange: 2 });
  });
});

describe('verdicts', () => {
  it('find nothing wrong where each is stored once', () => {
    for (const promised of [allOnce, onceOrUnknown, atLeastOnce]) {
      expect(promised.check(fatesOf(evidence))).toBeUndefined();
    }
  });

  it('hold each promise to its words', () => {
    const twice = { ...NO_FATES, once: 1, twice: 1 };
    const untold = { ...NO_FATES, once: 1, never: 1, unknown: 1 };
    const lost = { ...NO_FATES, once: 1, never: 1, lost: 1 };
    expect(allOnce.check(twice)).toBe('1 stored twice');
    expect(atLeastOnce.check(twice)).toBeUndefined();
    expect(allOnce.check(untold)).toBe('1 unknown');
    expect(onceOrUnknown.check(untold)).toBeUndefined();
    for (const promised of [allOnce, onceOrUnknown, atLeastOnce, unknown(1)]) {
      expect(promised.check(lost)).toContain('1 lost');
    }
    expect(unknown(1).check(fatesOf(evidence))).toBe('0 unknown, not 1');
  });
});
