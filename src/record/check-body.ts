import type { EventBody, IdentifyBody } from '../types';
import { isDateTime } from './is-date-time';

/**
 * Says what is wrong with the body of an identify call, or `undefined` when it can be stored.
 *
 * Fields the interface does not know are ignored, neither refused nor stored: a newer client may
 * talk to an older service. A key whose value is `undefined` counts as not given.
 *
 * @example
 * checkIdentify({ project: 'p', user_id: 'u' }); // '`properties` must be an object'
 */
export function checkIdentify(value: unknown): string | undefined {
  return checkFields(value, IDENTIFY_FIELDS);
}

/**
 * Says what is wrong with the body of an event call, or `undefined` when it can be stored. Unknown
 * fields are ignored, as in {@link checkIdentify}. An optional field is left out or has its type:
 * `null` is refused.
 *
 * @example
 * checkEvent({ project: 'p', channel: 'c', event: 'Signed up' }); // undefined
 */
export function checkEvent(value: unknown): string | undefined {
  return checkFields(value, EVENT_FIELDS);
}

/** An object of JSON: neither an array nor `null`. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type Check = (value: unknown) => string | undefined;

function checkFields(value: unknown, checks: Record<string, Check>): string | undefined {
  if (!isPlainObject(value)) return 'the body must be an object';
  for (const [field, check] of Object.entries(checks)) {
    const wanted = check(value[field]);
    if (wanted) return `\`${field}\` must be ${wanted}`;
  }
  return undefined;
}

const isText = (value: unknown) => typeof value === 'string';
const isBoolean = (value: unknown) => typeof value === 'boolean';
const isTimestamp = (value: unknown) => typeof value === 'string' && isDateTime(value);

const requiredText: Check = (value) =>
  isText(value) && value !== '' ? undefined : 'a string that is not empty';
const requiredObject: Check = (value) => (isPlainObject(value) ? undefined : 'an object');

const optional =
  (isRight: (value: unknown) => boolean, wanted: string): Check =>
  (value) =>
    value === undefined || isRight(value) ? undefined : wanted;

/** The fields of an identify call, each with its check. */
export const IDENTIFY_FIELDS = {
  project: requiredText,
  user_id: requiredText,
  properties: requiredObject,
} satisfies Record<keyof IdentifyBody, Check>;

/** The fields of an event call, each with its check. */
export const EVENT_FIELDS = {
  project: requiredText,
  channel: requiredText,
  event: requiredText,
  description: optional(isText, 'a string'),
  icon: optional(isText, 'a string'),
  notify: optional(isBoolean, 'true or false'),
  tags: optional(isPlainObject, 'an object'),
  user_id: optional(isText, 'a string'),
  timestamp: optional(isTimestamp, 'an RFC 3339 date-time'),
} satisfies Record<keyof EventBody, Check>;
