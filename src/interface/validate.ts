import type { EventBody, IdentifyBody, RecordType } from './bodies.js';
import { isDateTime } from '../util/is-date-time.js';
import { isObject } from '../util/is-object.js';
import { flag, type Kind } from './kinds.js';

const isText = (value: unknown): value is string => typeof value === 'string';

const text: Kind = { words: 'a string', fits: isText };
const fullText: Kind = { words: 'a non-empty string', fits: (value) => isText(value) && !!value };
const object: Kind = { words: 'an object', fits: isObject };
const dateTime: Kind = {
  words: 'a date-time of RFC 3339',
  fits: (value) => isText(value) && isDateTime(value),
};

interface Field extends Kind {
  mayLack?: boolean;
}

/** A field that may be left out. If it is given, it must be of its kind: `null` is refused. */
const optional = (kind: Kind): Field => ({ ...kind, mayLack: true });

type Fields<Body> = Record<keyof Body, Field>;

const identify: Fields<IdentifyBody> = { project: fullText, user_id: fullText, properties: object };

const event: Fields<EventBody> = {
  project: fullText,
  channel: fullText,
  event: fullText,
  description: optional(text),
  icon: optional(text),
  notify: optional(flag),
  tags: optional(object),
  user_id: optional(text),
  timestamp: optional(dateTime),
};

/** The fields of each operation (interface, sections 2.1 and 2.2). */
export const FIELDS: Readonly<Record<RecordType, Readonly<Record<string, Field>>>> = {
  identify,
  event,
};

/**
 * Returns the name of the first wrong field in the body of a request, `body` if the body is no object, and `undefined`
 * if nothing is wrong. Fields that the interface does not know are ignored, since a newer client may talk to an older service. A
 * key whose value is `undefined` counts as not given.
 *
 * @example
 * wrongField('identify', { project: 'p', user_id: 'u' }); // 'properties'
 */
export const wrongField = (type: RecordType, body: unknown): string | undefined => {
  if (!isObject(body)) return 'body';
  const fields = FIELDS[type];
  return Object.keys(fields).find((name) => {
    const field = fields[name]!;
    const value = body[name];
    return value === undefined ? !field.mayLack : !field.fits(value);
  });
};
