import { expect, it } from 'vitest';
import { fatesOf, NO_FATES } from '../../e2e/promise/fates.js';
import { allOnce, atLeastOnce, onceOrUnknown, unknown } from '../../e2e/promise/verdicts.js';

it('sorts every record of a row into exactly one fate', () => {
  const fates = fatesOf({
    made: ['once', 'twice', 'unknown', 'dropped', 'waiting', 'lost', 'stored and unknown'],
    stored: ['once', 'twice', 'twice', 'stored and unknown', 'who'],
    unknown: ['unknown', 'stored and unknown'],
    dropped: ['dropped'],
    waiting: ['waiting'],
  });
  expect(fates).toEqual({
    ...{ once: 2, twice: 1, never: 4, unknown: 1, dropped: 1, waiting: 1, lost: 1, strange: 1 },
  });
});

it('holds each promise to its words', () => {
  const twice = { ...NO_FATES, once: 1, twice: 1 };
  const untold = { ...NO_FATES, once: 1, never: 1, unknown: 1 };
  const lost = { ...NO_FATES, once: 1, never: 1, lost: 1 };
  expect(allOnce.check(twice)).toBe('1 stored twice');
  expect(atLeastOnce.check(twice)).toBeUndefined();
  expect(allOnce.check(untold)).toBe('1 unknown');
  expect(onceOrUnknown.check(untold)).toBeUndefined();
  expect(unknown(1).check({ ...NO_FATES, once: 2 })).toBe('0 unknown, not 1');
  for (const promised of [allOnce, onceOrUnknown, atLeastOnce, unknown(1)]) {
    expect(promised.check(lost)).toContain('1 lost');
  }
});
