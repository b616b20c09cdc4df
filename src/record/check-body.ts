import type { EventBody, IdentifyBody } from '../types';
import { isDateTime } from './is-date-time';

/**
 * Names the first field that is wrong in the body of an identify call, or says `undefined` when it can be
 * stored. `body`: it is no object.
 *
 * Fields the interface does not know are ignored, neither refused nor stored: a newer client may
 * talk to an older service. A key whose value is `undefined` counts as not given.
 *
 * @example
 * checkIdentify({ project: 'p', user_id: 'u' }); // 'properties'
 */
export function checkIdentify(value: unknown): string | undefined {
  return checkFields(value, IDENTIFY_FIELDS);
}

/**
 * The same of the body of an event call. Unknown fields are ignored, as in {@link checkIdentify}. An
 * optional field is left out or has its type: `null` is refused.
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

type Check = (value: unknown) => boolean;

function checkFields(value: unknown, checks: Record<string, Check>): string | undefined {
  if (!isPlainObject(value)) return 'body';
  return Object.keys(checks).find((field) => !checks[field]!(value[field]));
}

const isText: Check = (value) => typeof value === 'string';
const isFullText: Check = (value) => isText(value) && value !== '';
const isBoolean: Check = (value) => typeof value === 'boolean';
const isTimestamp: Check = (value) => typeof value === 'string' && isDateTime(value);

const optional =
  (isRight: Check): Check =>
  (value) =>
    value === undefined || isRight(value);

/** The fields of an identify call, each with its check. */
export const IDENTIFY_FIELDS = {
  project: isFullText,
  user_id: isFullText,
  properties: isPlainObject,
} satisfies Record<keyof IdentifyBody, Check>;

/** The fields of an event call, each with its check. */
export const EVENT_FIELDS = {
  project: isFullText,
  channel: isFullText,
  event: isFullText,
  description: optional(isText),
  icon: optional(isText),
  notify: optional(isBoolean),
  tags: optional(isPlainObject),
  user_id: optional(isText),
  timestamp: optional(isTimestamp),
} satisfies Record<keyof EventBody, Check>;
