import { expect, it } from 'vitest';
import { isDeeper } from '../../src/util/is-deeper.js';

const levels = (count: number): unknown =>
  JSON.parse(`${'[{"a":'.repeat(count / 2)}1${'}]'.repeat(count / 2)}`);

it('takes 200 levels, and none more', () => {
  expect(isDeeper(levels(200))).toBe(false);
  expect(isDeeper([levels(200)])).toBe(true);
});

it.each(['null', '"{[{["', '{"a":[null,1,"x",true,{"__proto__":{}}]}'])('takes %s', (text) => {
  expect(isDeeper(JSON.parse(text), 4)).toBe(false);
});
