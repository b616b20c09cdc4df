import { isObject } from '../../util/is-object.js';
import { callSafely } from '../hooks.js';
import type { Incoming } from '../incoming.js';

/** NUL and surrogates as JSON writes them. A match is only a hint, since the backslash may itself be escaped. */
const SUSPECT = /\\u(?:0000|d[89a-f])/i;
/**
 * A surrogate without its other half, or NUL. With the flag `u` a whole pair is one character, which does not match.
 */
const UNSTORABLE = /[\u0000\ud800-\udfff]/gu;

/** A text without NUL and lone surrogates, each of which becomes U+FFFD. */
export const storableText = (text: string): string => text.replace(UNSTORABLE, '\ufffd');

const inValue = (value: unknown): unknown => {
  if (typeof value === 'string') return storableText(value);
  if (Array.isArray(value)) return value.map(inValue);
  if (!isObject(value)) return value;
  // `fromEntries` makes a key named `__proto__` an ordinary one.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [storableText(key), inValue(item)]),
  );
};

/**
 * A record as every engine can keep it: Postgres refuses NUL and lone surrogates, and SQLite's driver cuts a text at
 * NUL. Both are replaced by U+FFFD. A record without them is returned as it is.
 */
export const storable = <Record extends Incoming>(record: Record): Record => {
  const id = storableText(record.id);
  const body = SUSPECT.test(record.text) ? (inValue(record.body) as Incoming['body']) : record.body;
  const text = body === record.body ? record.text : JSON.stringify(body);
  return id === record.id && text === record.text ? record : { ...record, id, body, text };
};

/** Calls the hook with the number of changed records. A hook that throws must not cost a record. */
export const tellReplaced = (
  records: readonly Incoming[],
  clean: readonly Incoming[],
  onReplaced: ((records: number) => void) | undefined,
): void => {
  const replaced = clean.filter((record, index) => record !== records[index]).length;
  if (replaced)
    callSafely(
      () => onReplaced?.(replaced),
      () => {}, // nobody can be told
    );
};
