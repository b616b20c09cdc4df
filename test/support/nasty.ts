import { NOBODY } from '../../src/interface/nobody.js';
import fc from 'fast-check';

const cyclic = (): object => {
  const value: Record<string, unknown> = {};
  value['self'] = value;
  return value;
};
const deep = (levels: number): object => {
  let value: object = {};
  for (let i = 0; i < levels; i++) value = { value };
  return value;
};
const throws = (): never => {
  throw new Error('the page threw');
};
const trap = (): object =>
  new Proxy({}, { get: throws, ownKeys: throws, getPrototypeOf: throws, has: throws });

/** What a page may hand over by mistake. Each is made anew. */
const MISTAKES: readonly (() => unknown)[] = [
  () => undefined,
  () => null,
  () => Number.NaN,
  () => -0,
  () => 10n,
  () => Symbol('s'),
  () => () => 1,
  () => new Date(Number.NaN),
  () => new Date(0),
  () => new Map([[1, 2]]),
  () => new Error('e'),
  cyclic,
  () => deep(20_000),
  () => ({ get: 1, toString: 1, valueOf: null }),
  () => Object.defineProperty({}, 'x', { enumerable: true, get: throws }),
  () => ({ toJSON: throws }),
  () => ({ toJSON: () => undefined }),
  () => ({ toJSON: () => 'text' }),
  () => JSON.parse('{"__proto__":{"polluted":true}}') as unknown,
  () => '\ud800',
  trap,
];

const mistake = fc.constantFrom(...MISTAKES);
const anything = fc
  .anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true })
  .map((value) => () => value);

/**
 * Makers of anything at all, and often of something that goes wrong. Not the things themselves: some cannot
 * even be printed.
 */
export const nasty: fc.Arbitrary<() => unknown> = fc.oneof(
  mistake,
  anything,
  fc.dictionary(fc.string(), mistake, { maxKeys: 3 }).map((makers) => () => makeEach(makers)),
);

/** An object with what each maker makes. */
export const makeEach = (makers: Record<string, () => unknown>): object =>
  Object.fromEntries(Object.entries(makers).map(([key, make]) => [key, make()]));

/** A string with characters of all widths, lone surrogates too. */
export const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.string(),
);

/** A name that is taken: not empty. */
export const name = text.filter((value) => value !== '');

/** An id of a user that is taken. */
export const userId = name.filter((value) => !NOBODY.test(value));

/** An object of JSON. */
export const json = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 5 });
