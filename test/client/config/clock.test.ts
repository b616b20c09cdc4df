import { expect, it, vi } from 'vitest';
import { readClock } from '../../../src/client/config/clock.js';

it('reads the clock that was passed in', () => {
  expect(readClock(() => 5)).toBe(5);
});

it.each<[string, (() => number) | undefined]>([
  ['none was passed in', undefined],
  [
    'it throws',
    () => {
      throw new Error('no');
    },
  ],
  ['it says no number', () => NaN],
  ['it says a time that no date can have', () => 1e300],
  ['it says one long before all dates', () => -Infinity],
  ['it says a text', () => '5' as unknown as number],
])("reads the client's where %s", (_, now) => {
  vi.useFakeTimers({ now: 7 });
  expect(readClock(now)).toBe(7);
  vi.useRealTimers();
});
