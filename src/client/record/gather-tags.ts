import { nearest } from '../../interface/near.js';
import type { Draft } from '../types.js';
import { FIELDS } from '../../interface/validate.js';
import { isObject } from '../../interface/is-object.js';

/** Fields that an unknown key may be a misspelling of. In `beforeSend` the user is `user_id`. */
const OPTIONAL = [
  ...['channel', 'description', 'icon', 'notify', 'tags', 'timestamp'],
  ...['userId', 'user_id'],
];

/** Tells the developer of a call that was probably meant otherwise, once for each message, or for each `what`. */
export type Hint = (message: string, what?: string) => void;

/** The tags: those in `tags`, and every key that is no field. If a key is in both, the one in `tags` counts. */
export const gatherTags = (rest: object, tags: unknown, hint?: Hint): unknown => {
  const keys = Object.keys(rest);
  // Wrong tags stay as they are, so that they are refused.
  if (!keys.length || !(tags === undefined || isObject(tags))) return tags;
  for (const key of keys) {
    const field = hint && nearest(key, OPTIONAL);
    if (field)
      hint(`\`${key}\` is a tag, since no field has that name: did you mean \`${field}\`?`);
  }
  return { ...rest, ...tags };
};

/**
 * Does the same for a body that `beforeSend` returned, so that none of its keys is lost. In an identify, unknown keys
 * become properties. Functions are left out, since JSON has none.
 */
export const gatherBody = (draft: Draft, hint: Hint): Draft => {
  const { type, body } = draft;
  const given = body as object as Record<string, unknown>;
  const rest = Object.entries(given).filter(
    ([key, value]) => !Object.hasOwn(FIELDS[type], key) && typeof value !== 'function',
  );
  if (!rest.length) return draft;
  const isEvent = type === 'event';
  const free = isEvent ? 'tags' : 'properties';
  const gathered = gatherTags(Object.fromEntries(rest), given[free], isEvent ? hint : undefined);
  const known: Record<string, unknown> = { ...given, [free]: gathered };
  for (const [key] of rest) delete known[key];
  return { type, body: known } as unknown as Draft;
};
