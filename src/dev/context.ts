import { isObject } from '../util/is-object.js';
import type { Call } from '../client/record.js';
import { show } from './show.js';

/** Whether the option `context` has given a record of this call no tag at all. */
export const hasGivenNone = ({ given }: Call, tags: unknown = {}): boolean => {
  const { tags: own, ...rest } = (isObject(given) ? given : {}) as { tags?: object };
  return Object.keys(tags as object).every(
    (key) => Object.hasOwn(rest, key) || Object.hasOwn(own ?? {}, key),
  );
};

/** What is wrong with the option `context`, if anything. It is asked once more for that. */
export const contextProblem = (context: unknown): string | undefined => {
  try {
    const tags: unknown =
      typeof context === 'function' ? (context as (known: object) => unknown)({}) : context;
    if (tags === undefined) return undefined;
    if (!isObject(tags) || 'then' in tags)
      return `must return an object at once, not ${show(tags)}`;
    JSON.stringify(tags);
    return undefined;
  } catch (error) {
    return `failed: ${String(error)}`;
  }
};
