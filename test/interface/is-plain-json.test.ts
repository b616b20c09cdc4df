import { expect, it } from 'vitest';
import { isPlainJson } from '../../src/interface/is-plain-json.js';

const levels = (count: number): unknown =>
  JSON.parse(`${'[{"a":'.repeat(count / 2)}1${'}]'.repeat(count / 2)}`);

it('takes 32 levels, and none more', () => {
  expect(isPlainJson(levels(32))).toBe(true);
  expect(isPlainJson([levels(32)])).toBe(false);
});

it('takes any value and common keys', () => {
  expect(
    isPlainJson(
      JSON.parse(
        '{"a":[null,1,"x",true,{"proto":{},"__proto":1,"constructor":"Ferrari","prototype":1}]}',
      ),
    ),
  ).toBe(true);
});

it.each([
  '{"__proto__":1}',
  '{"a":{"__proto__":{}}}',
  '[[{"__proto__":[]}]]',
  '{"\\u005f_proto__":null}',
])('refuses %s', (text) => {
  expect(isPlainJson(JSON.parse(text))).toBe(false);
});
