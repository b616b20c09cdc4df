import { afterEach, expect, it } from 'vitest';
import { toJson } from '../../../src/client/record/to-json.js';

type Spoilt = { toJSON?: (this: unknown) => unknown };

const { toJSON: ofDate } = Date.prototype;

const spoil = () => {
  (Array.prototype as Spoilt).toJSON = function () {
    return `[${String(this)}]`;
  };
  (Object.prototype as Spoilt).toJSON = () => 'an object';
  (Date.prototype as Spoilt).toJSON = () => 'a date';
};

afterEach(() => {
  delete (Array.prototype as Spoilt).toJSON;
  delete (Object.prototype as Spoilt).toJSON;
  Date.prototype.toJSON = ofDate;
});

const AT = Date.UTC(2026, 0, 1);
const make = () => ({
  list: [1, [2, { three: [true, null, undefined] }]],
  at: new Date(AT),
  never: new Date(NaN),
  own: { toJSON: () => ['own'] },
  text: 'a',
  nothing: undefined,
});

it('makes the same of a value whatever libraries have given to all arrays and objects', () => {
  const plain = JSON.stringify(make());
  expect(toJson(make())).toBe(plain);
  const value = make();
  spoil();
  const text = toJson(value);
  const list = toJson([1, [2]]);
  const date = toJson(new Date(AT));
  expect(text).toBe(plain);
  expect(list).toBe('[1,[2]]');
  expect(date).toBe('"2026-01-01T00:00:00.000Z"');
});

it('has no text for what JSON has none for', () => {
  expect(toJson(undefined)).toBeUndefined();
  spoil();
  expect(toJson(undefined)).toBeUndefined();
});
