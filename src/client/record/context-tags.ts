import { messageOf } from '../../interface/errors.js';
import { copy } from './call.js';
import type { Hint } from './gather-tags.js';

/** The tags that the option `context` gives at this moment. If it throws, the event goes without them. */
export const contextTags = (context: unknown, hint: Hint): object => {
  try {
    return Object(
      copy(typeof context === 'function' ? (context as () => unknown)() : context),
    ) as object;
  } catch (error) {
    hint(`\`context\` failed: ${messageOf(error)}`);
    return {};
  }
};
