import { expect, it } from 'vitest';
import { stepStates } from '../../../src/server/rows/page/state/setup.js';

const at = '2026-11-25T14:00:00.000Z';

it.each([
  ['the first step that is to come', {}, undefined, ['next', 'later', 'later', 'later']],
  ['the next one', { file: at, preflight: at }, undefined, ['done', 'done', 'next', 'later']],
  [
    'no step that was passed by',
    { preflight: at },
    undefined,
    ['skipped', 'done', 'next', 'later'],
  ],
  [
    'the step at which something was refused',
    { file: at, preflight: at },
    { at, message: '401' },
    ['done', 'done', 'failing', 'later'],
  ],
])('waits for %s', (_, steps, problem, states) => {
  expect(Object.values(stepStates({ steps, ...(problem && { problem }) }))).toEqual(states);
});
