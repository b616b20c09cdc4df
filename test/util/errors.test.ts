import { expect, it } from 'vitest';
import { messageOf } from '../../src/util/errors.js';

const noWords = Object.create(null) as object;

it.each<[string, unknown, string]>([
  ['an error', new Error('oops'), 'oops'],
  ['a text', 'oops', 'oops'],
  ['nothing', undefined, 'undefined'],
  ['null', null, 'null'],
  ['an object with a message', { message: 'oops' }, 'oops'],
  ['an object without words', noWords, 'unknown error'],
  [
    'an object whose message throws',
    {
      get message() {
        throw new Error('no');
      },
    },
    'unknown error',
  ],
])('turns %s into words', (_, thrown, words) => {
  expect(messageOf(thrown)).toBe(words);
});
