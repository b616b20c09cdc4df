import { messageOf } from '../../interface/errors.js';
import { isObject } from '../../interface/is-object.js';
import { copy } from './call.js';
import type { Hint } from './gather-tags.js';

/** The functions that are being asked. One that calls `event` is not asked again for that event. */
const asked = new Set<unknown>();

/**
 * What the option `context` gives at this moment.
 * @throws if that is no object.
 */
export const askContext = (context: unknown): object => {
  if (asked.has(context)) return {};
  asked.add(context);
  try {
    const given = (typeof context === 'function' ? (context as () => unknown)() : context) ?? {};
    const { then } = given as Partial<Promise<unknown>>;
    // Nobody else handles what a promise is rejected with.
    void then?.call(given, null, () => undefined);
    if (then || !isObject(given)) throw new TypeError('expected an object at once');
    return given;
  } finally {
    asked.delete(context);
  }
};

/** The tags of the option `context`. If there are none to be had, the event goes without them. */
export const contextTags = (context: unknown, hint: Hint): object => {
  try {
    return copy(askContext(context)) as object;
  } catch (error) {
    hint(`\`context\` failed: ${messageOf(error)}`, 'context');
    return {};
  }
};
