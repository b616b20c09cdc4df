import { mayFail } from '../util/may-fail.js';
import { show } from './show.js';

/** A value in few words: `NaN`, `a function`, `Map`. */
const kindOf = (value: unknown): string =>
  Object(value) === value && typeof value !== 'function'
    ? Object.prototype.toString.call(value).slice(8, -1)
    : show(value);

/** An object of the page's own making, or of one of its frames. */
const isPlain = (value: object): boolean => {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return !prototype || !Object.getPrototypeOf(prototype) || Array.isArray(value);
};

/** What JSON makes of a value, if that is not what was given. `value` is what `toJSON` has made of it. */
const changeOf = (given: unknown, value: unknown): string | undefined => {
  if (given === undefined || given === null) return undefined;
  const text = mayFail(() => [JSON.stringify(value)]);
  if (!text) return undefined;
  if (text[0] === undefined) return 'is left out';
  if (text[0] === 'null') return 'becomes `null`';
  return text[0] === '{}' && !isPlain(value as object) ? 'becomes `{}`' : undefined;
};

/** The values that JSON changes: where each is, and what it becomes. */
export const changedValues = (given: unknown): [path: string, change: string][] => {
  const found: [string, string][] = [];
  const paths = new Map<unknown, string[]>();
  // It throws where JSON cannot hold a value at all, which is told of the dropped call.
  mayFail(() =>
    JSON.stringify(given, function (this: Record<string, unknown>, key: string, value: unknown) {
      const path = [...(paths.get(this) ?? []), key];
      const own = this[key];
      const change = changeOf(own, value);
      if (change) found.push([path.slice(1).join('.'), `${change} (${kindOf(own)})`]);
      if (Object(value) === value) paths.set(value, path);
      return value;
    }),
  );
  return found;
};
