import { expect, it } from 'vitest';
import { hueOf } from '../../src/show/hue.js';

it('gives a name one colour of eight', () => {
  expect(hueOf('Signed Up')).toBe(hueOf('Signed Up'));
  const hues = new Set(Array.from({ length: 200 }, (_, at) => hueOf(`user_${at}`)));
  expect([...hues].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
});
