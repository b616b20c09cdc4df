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
const copy = (value: unknown): unknown =>
  value === undefined || typeof value === 'string'
    ? value
    : (JSON.parse(toJson(value) ?? 'null') as unknown);

const capture = (make: () => Call): Made<Call> => {
  try {
    return { value: make() };
  } catch (error) {
    // Cyclic, BigInt, a getter or toJSON or Proxy trap of the page that throws.
    return { reason: 'not-serializable', message: messageOf(error) };
  }
};

export const captureIdentify = (at: number, userId: unknown, properties: unknown): Made<Call> =>
  capture(() => ({ type: 'identify', at, userId: copy(userId), properties: copy(properties) }));

export const captureEvent = (at: number, name: unknown, fields: unknown): Made<Call> =>
  capture(() => ({ type: 'event', at, name: copy(name), fields: copy(fields) }));
