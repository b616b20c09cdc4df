import { describe, expect, it } from 'vitest';
import { byteLength } from '../../../src/client/record/byte-length.js';

describe('the length in bytes', () => {
  it.each([
    ['', 0],
    ['plain ASCII\u007f\0', 13],
    ['ä', 2],
    ['\u0080', 2],
    ['日本', 6],
    ['🎉', 4],
    ['half of one: \ud83c', 16],
  ])('of %j is %i', (text, bytes) => {
    expect(byteLength(text)).toBe(bytes);
  });
});
