import { describe, expect, it } from 'vitest';
import { arrivalTime, countOf, delayOf, exactLength, lengthInWords } from '../../src/show/times.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

describe('a length of time', () => {
  it.each([
    [0, '0 s'],
    [90, '0.1 s'],
    [900, '0.9 s'],
    [1000, '1 s'],
    [9_940, '9.9 s'],
    [9_960, '10 s'],
    [59_499, '59 s'],
    [59_500, '1 min'],
    [134 * SECOND, '2 min 14 s'],
    [HOUR - 500, '1 h'],
    [3 * HOUR + 5 * MINUTE, '3 h 5 min'],
    [51 * HOUR, '2 d 3 h'],
    [24 * HOUR - 1, '1 d'],
  ])('of %i ms is said as people say it', (ms, words) => {
    expect(lengthInWords(ms)).toBe(words);
  });

  it.each([
    [-3, '0 ms'],
    [120.4, '120 ms'],
    [1_017, '1.02 s'],
    [12_400, '12 s'],
  ])('of %i ms is exact if it is short', (ms, words) => {
    expect(exactLength(ms)).toBe(words);
  });
});

describe('how long after its call a record came', () => {
  const received = Date.parse('2026-11-25T14:02:11.400Z');

  it.each([
    [900, { text: '0.9 s', kind: 'soon' }],
    [-400, { text: '0 s', kind: 'soon' }],
    [134 * SECOND, { text: '2 min 14 s later', kind: 'late' }],
    [-3 * SECOND, { text: 'clock 3 s ahead', kind: 'ahead' }],
  ])('is told where it was %i ms: %j', (ms, told) => {
    const called_at = new Date(received - ms).toISOString();
    expect(delayOf({ called_at, received_at: new Date(received).toISOString() })).toEqual(told);
  });

  it('is not told where the sender told no time', () => {
    const at = new Date(received).toISOString();
    expect(delayOf({ called_at: at, received_at: at })).toEqual({ text: '', kind: 'unknown' });
  });

  it('is not told where a time cannot be read', () => {
    expect(delayOf({ called_at: 'soon', received_at: 'later' }).kind).toBe('unknown');
  });
});

describe('a time of arrival', () => {
  const now = new Date(2026, 10, 25, 15).getTime();

  it('has a tenth of a second, and no day if it is today', () => {
    const { day, time } = arrivalTime(new Date(2026, 10, 25, 14, 2, 11, 456).toISOString(), now);
    expect(day).toBe('');
    expect(time).toBe('14:02:11.4');
  });

  it('has its day, and its year if that is another one', () => {
    expect(arrivalTime(new Date(2026, 10, 24, 9).toISOString(), now).day).toMatch(/24/);
    expect(arrivalTime(new Date(2025, 10, 24, 9).toISOString(), now).day).toMatch(/2025/);
  });
});

it('counts in words', () => {
  expect([countOf(1, 'row'), countOf(1204, 'row'), countOf(0, 'entry', 'entries')]).toEqual([
    ...['1 row', '1,204 rows', '0 entries'],
  ]);
});
