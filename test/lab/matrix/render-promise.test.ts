import { describe, expect, it } from 'vitest';
import { NO_FATES } from '../../../lab/matrix/fates.js';
import { renderPromise } from '../../../lab/matrix/render-promise.js';
import type { Cell, Results } from '../../../lab/matrix/results.js';
import { allOnce } from '../../../lab/matrix/verdicts.js';

const rows = [
  { id: 'one', group: 'First', what: 'a | b', promised: allOnce, because: 'never told' },
  { id: 'close', group: 'First', what: 'it closes', promised: allOnce, because: 'it closed.' },
  {
    id: 'two',
    group: 'Second',
    what: 'the other',
    promised: allOnce,
    because: 'it is so.',
    cannot: { webkit: 'no way' },
  },
];
const cell: Cell = {
  runs: 20,
  failed: 0,
  fates: { ...NO_FATES, once: 400 },
  wrong: [],
  problems: [],
  longTasks: { count: 0, runs: 20, longest: 0 },
  cached: { yes: 20, tried: 20, bareYes: 20, bareTried: 20 },
  version: '1.0',
  date: '2026-01-01',
};
const failing: Cell = {
  ...cell,
  failed: 1,
  fates: { ...NO_FATES, once: 398, never: 2, lost: 2 },
  wrong: ['2 lost'],
  problems: ['console.log: hello'],
};
const results: Results = {
  machine: 'a machine',
  // What was measured before it was found that the engine cannot.
  rows: { one: { chromium: cell }, two: { chromium: cell, firefox: failing, webkit: failing } },
  rates: {
    close: {
      firefox: {
        survived: 199,
        runs: 200,
        withUnknown: 3,
        wrong: ['1 lost'],
        version: '1.0',
        date: '2026-01-01',
      },
    },
  },
};
const page = renderPromise(rows, results);
const lineOf = (start: string) => page.split('\n').find((line) => line.startsWith(start));

describe('renderPromise', () => {
  it('has a line a row, with the engines side by side', () => {
    expect(lineOf('| a \\| b')).toBe(
      '| a \\| b | each once | 20/20: 400 / 0 / 0 | not run | not run |',
    );
    expect(lineOf('| the other')).toBe(
      '| the other | each once | 20/20: 400 / 0 / 0 | **19/20**: 398 / 0 / 2 (2 lost) | cannot |',
    );
  });

  it('marks what was measured on another build', () => {
    const stale = { ...results, build: 'later', rows: { one: { chromium: cell } } };
    expect(renderPromise(rows, stale)).toContain('| 20/20: 400 / 0 / 0 ⌛ |');
    const fresh = { ...stale, rows: { one: { chromium: { ...cell, build: 'later' } } } };
    expect(renderPromise(rows, fresh)).toContain('| 20/20: 400 / 0 / 0 |');
  });

  it('sums up each engine', () => {
    expect(lineOf('| Chromium | 1.0')).toBe(
      '| Chromium | 1.0, 2026-01-01 | 2 of 2 | 40 of 40 | 0 |',
    );
    expect(lineOf('| Firefox | 1.0')).toBe('| Firefox | 1.0, 2026-01-01 | 0 of 1 | 19 of 20 | 2 |');
  });

  it('says what was not as promised, what a guest does not do, and what cannot be', () => {
    expect(page).toContain('- Firefox, the other: 1 of 20. 2 lost.\n  - Why: it is so.');
    expect(page).not.toContain('never told');
    expect(page).toContain('- Firefox, the other: console.log: hello');
    expect(page).toContain('- WebKitGTK, the other: no way');
    expect(page).not.toContain('- WebKitGTK, the other: 1 of 20');
    expect(lineOf('| WebKitGTK')).toContain('0 of 0');
  });

  it('gives rates with their interval', () => {
    expect(page).toContain('| 199 of 200 | 97.2 % to 99.9 % | 3 |');
    expect(page).toContain('Firefox: 1 lost.\n  - Why: it closed.');
  });

  it('says what has not been run', () => {
    expect(renderPromise(rows, { ...results, rates: {} })).toContain('Not run yet.');
  });
});
