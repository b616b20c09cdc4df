import { expect, it } from 'vitest';
import { stepStates, testOf } from '../../../src/server/rows/page/state/setup.js';
import type { SetupState, Step } from '../../../src/server/setup.js';

const at = '2026-11-25T14:00:00.000Z';
const seen = (...steps: Step[]) => Object.fromEntries(steps.map((step) => [step, at]));
const problemAt = (step: Step) => ({ at, message: 'in words', step });

it.each<[what: string, setup: SetupState, states: string]>([
  ['the first step', { steps: {} }, 'file:next preflight:later accepted:later stored:later'],
  [
    'the next one',
    { steps: seen('file', 'preflight') },
    'file:done preflight:done accepted:next stored:later',
  ],
  [
    'no step that was passed by',
    { steps: seen('preflight') },
    'file:skipped preflight:done accepted:next stored:later',
  ],
  [
    'no preflight with the tag of a relay, whose pages need none',
    { tag: '<script data-relay="/a"></script>', steps: seen('file') },
    'file:done accepted:next stored:later',
  ],
  [
    'nothing behind a step at which something was refused',
    { steps: seen('file', 'preflight'), problem: problemAt('accepted') },
    'file:done preflight:done accepted:failing stored:later',
  ],
  [
    'no step before that one, whichever came last',
    { steps: {}, problem: problemAt('accepted') },
    'file:skipped preflight:skipped accepted:failing stored:later',
  ],
  [
    'what a record fails at whose sender was let in',
    { steps: seen('file', 'accepted'), problem: problemAt('stored') },
    'file:done preflight:skipped accepted:done stored:failing',
  ],
  [
    'the next step once the one that failed is passed',
    { steps: seen('file', 'preflight', 'accepted'), problem: problemAt('accepted') },
    'file:done preflight:done accepted:done stored:next',
  ],
])('waits for %s', (_, setup, states) => {
  expect(
    stepStates(setup)
      .map(({ name, state }) => `${name}:${state}`)
      .join(' '),
  ).toBe(states);
});

it.each<[what: string, tag: string, address: string | undefined]>([
  [
    'a relay of this origin',
    'data-relay="http://localhost/x/a" data-project="p" data-channel="c"',
    'http://localhost/x/a/v1/event',
  ],
  [
    'this service, with the token of the tag',
    'data-base-url="http://localhost" data-token="t" data-project="p" data-channel="c"',
    'http://localhost/v1/event',
  ],
  [
    'no service of another origin',
    'data-relay="https://a.b/a" data-project="p" data-channel="c"',
    undefined,
  ],
  [
    'none without a token',
    'data-base-url="http://localhost" data-project="p" data-channel="c"',
    undefined,
  ],
  ['none without a project', 'data-relay="/a" data-channel="c"', undefined],
])('has a test event for %s', (_, tag, address) => {
  const test = testOf(tag, 'http://localhost');
  expect(test?.address).toBe(address);
  if (test)
    expect(test.headers['authorization']).toBe(tag.includes('token') ? 'Bearer t' : undefined);
});
