import { messageOf } from '../../interface/errors.js';
import type { DropReason } from '../types.js';
import { toJson } from './to-json.js';

/** A call with its time and copies of its arguments. */
export type Call =
  | { type: 'identify'; at: number; userId: unknown; properties: unknown }
  | { type: 'event'; at: number; name: unknown; fields: unknown };

/** The result of a step from call to record: a value, or the reason why the call is dropped. */
export type Made<T> = { value: T } | { reason: DropReason; message: string };

/**
 * Copies a value as JSON will carry it. Nothing that the page does later changes the copy, and nothing that is done to
 * the copy, by `beforeSend` for example, changes the page's objects.
 */
export const copy = (value: unknown): unknown =>
  value === undefined || typeof value === 'string'
    ? value
    : (JSON.parse(toJson(value) ?? 'null') as unknown);

/** Whether JSON writes the object as its own members and nothing else. */
const isPlain = (value: unknown): value is object => {
  if (typeof value !== 'object' || !value || 'toJSON' in value) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

/** Whether JSON keeps the value as it is: neither left out nor turned into something else, as a Date into a text. */
const isKept = (value: unknown): boolean =>
  /string|boolean/.test(typeof value) ||
  Number.isFinite(value) ||
  isPlain(value) ||
  (Array.isArray(value) && !('toJSON' in value));

/** Copies the members as they are now. A call that becomes text before it returns needs no deeper copy. */
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
    // The value is cyclic or a BigInt, or a getter, `toJSON` or Proxy trap of the page threw. Or an adapter did, whose
    // errors are known by their words, since anything may be wrong with what a page throws.
    const message = messageOf(error);
    return {
      message,
      reason: / has no counterpart$/.test(message) ? 'not-supported' : 'not-serializable',
    };
  }
};

/** Captures a call of `identify`. With `isText` it becomes JSON text at once, before anybody can change its values. */
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

/** Captures a call of `event`, in the same way. */
export const captureEvent = (
  at: number,
  name: unknown,
  fields: unknown,
  isText = false,
): Made<Call> =>
  capture(() => ({ type: 'event', at, name: copy(name), fields: fieldsOf(fields, isText) }));
