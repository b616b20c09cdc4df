import { expect, it } from 'vitest';
import { createHeldBodies } from '../../../src/relay/front/held-bodies.js';

const hold = () => createHeldBodies({ ofAll: 100, ofClient: 40 });

it('has room for so many bytes of a client, and of all', () => {
  const open = hold();
  expect(open('a').add(40)).toBeUndefined();
  expect(open('a').add(1)).toBe(429);
  expect(open('b').add(40)).toBeUndefined();
  expect(open('c').add(21)).toBe(503);
  expect(open('c').add(20)).toBeUndefined();
});

it('has room again for what is released', () => {
  const open = hold();
  const body = open('a');
  for (let chunk = 0; chunk < 4; chunk++) body.add(10);
  expect(body.add(1)).toBe(429);
  body.release();
  expect(open('a').add(40)).toBeUndefined();
});

it('shares all of it among clients that cannot be told apart', () => {
  const open = hold();
  for (let bodies = 0; bodies < 10; bodies++) expect(open('').add(10)).toBeUndefined();
  expect(open('').add(1)).toBe(503);
});
