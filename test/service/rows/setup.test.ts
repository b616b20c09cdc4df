import { expect, it } from 'vitest';
import { stepStates } from '../../../src/service/rows/page/state/setup.js';

const at = '2026-11-25T14:00:00.000Z';
const states = (...given: Parameters<typeof stepStates>) => Object.values(stepStates(...given));

it('waits for the first step that is to come', () => {
  expect(states({ steps: {} })).toEqual(['next', 'later', 'later', 'later']);
  expect(states({ steps: { file: at, preflight: at } })).toEqual(['done', 'done', 'next', 'later']);
});

it('does not wait for a step that a later one has passed by', () => {
  expect(states({ steps: { preflight: at } })).toEqual(['skipped', 'done', 'next', 'later']);
});

it('names the step at which something was refused', () => {
  const problem = { at, message: '401' };
  expect(states({ steps: { file: at, preflight: at }, problem })).toEqual([
    ...['done', 'done', 'failing', 'later'],
  ]);
});
