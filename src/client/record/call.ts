import { messageOf } from '../../interface/errors.js';
import type { DropReason } from '../types.js';
import { toJson } from './to-json.js';

/** A call as it was made: its arguments copied, its time taken. */
export type Call =
  | { type: 'identify'; at: number; userId: unknown; properties: unknown }
  | { type: 'event'; at: number; name: unknown; fields: unknown };

/** What a step came to: a value, or the reason why there is none. */
export type Made<T> = { value: T } | { reason: DropReason; message: string };

/**
 * Copies a value the way it will travel, so that nothing the page does later changes it, and nothing we
 * (or `beforeSend`) do changes the page's objects.
 */
export const copy = (value: unknown): unknown =>
  value === undefined || typeof value === 'string'
    ? value
    : (JSON.parse(toJson(value) ?? 'null') as unknown);

/** An object that JSON writes as its own members and nothing else. */
const isPlain = (value: unknown): value is object => {
  if (typeof value !== 'object' || !value || 'toJSON' in value) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

/** A value that JSON neither leaves out nor makes something else of, as it makes a text of a Date. */
const isKept = (value: unknown): boolean =>
  /string|boolean/.test(typeof value) ||
  Number.isFinite(value) ||
  isPlain(value) ||
  (Array.isArray(value) && !('toJSON' in value));

/** The members as they are now. A call that becomes text before it returns needs no deeper copy. */
const membersOf = (value: unknown, isText: boolean): unknown =>
  isText && isPlain(value) ? { ...value } : copy(value);

const fieldsOf = (fields: unknown, isText: boolean): unknown => {
  if (!isText || !isPlain(fields)) return copy(fields);
  const own: Record<string, unknown> = { ...fields };
  for (const key of Object.keys(own)) {
    const value = own[key];
    if (key === 'tags' && isPlain(value)) own[key] = { ...value };
    else if (!isKept(value)) return copy(own);
  }
  return own;
};

const capture = (make: () => Call): Made<Call> => {
  try {
    return { value: make() };
  } catch (error) {
    // Cyclic, BigInt, a getter or toJSON or Proxy trap of the page that throws.
    return { reason: 'not-serializable', message: messageOf(error) };
  }
};

/** With `isText` the call becomes JSON text at once, and nobody changes its values before. */
export const captureIdentify = (
  at: number,
  userId: unknown,
  properties: unknown,
  isText = false,
): Made<Call> =>
  capture(() => ({
    type: 'identify',
    at,
    userId: copy(userId),
    properties: membersOf(properties, isText),
  }));

/** The same for an event. */
export const captureEvent = (
  at: number,
  name: unknown,
  fields: unknown,
  isText = false,
): Made<Call> =>
  capture(() => ({ type: 'event', at, name: copy(name), fields: fieldsOf(fields, isText) }));
