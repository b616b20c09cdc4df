import type { EventBody, IdentifyBody, RecordType } from '../interface/bodies.js';
import { hasInfinity } from '../interface/has-infinity.js';
import { isDeeper, MAX_LEVELS } from '../interface/is-deeper.js';
import { FIELDS, wrongField } from '../interface/validate.js';
import { refusalOf, type Refusal } from './refusal.js';

/** Bytes of what becomes part of the database's keys. */
const MAX_KEY_BYTES = 1_024;
/** Characters of a record: a page of rows, or what a live page gets at once, has to fit into memory. */
const MAX_RECORD = 131_072;
const KEYS = ['project', 'channel', 'user_id'];

export interface BodyRules {
  projects?: readonly string[] | undefined;
  channels?: readonly string[] | undefined;
}

const bytesOf = (text: unknown): number =>
  typeof text === 'string' ? new TextEncoder().encode(text).length : 0;

/** What is wrong with a body, in words for a person. */
const faultOf = (type: RecordType, body: unknown): string | undefined => {
  const field = wrongField(type, body);
  if (field === 'body') return 'the body must be an object';
  if (field) {
    const given = (body as Record<string, unknown>)[field];
    const words = FIELDS[type][field]!.words;
    return given === undefined
      ? `\`${field}\` is missing: ${words}`
      : `\`${field}\` must be ${words}`;
  }
  const given = body as Record<string, unknown>;
  const long = KEYS.find((name) => bytesOf(given[name]) > MAX_KEY_BYTES);
  if (long) return `\`${long}\` may have ${MAX_KEY_BYTES} bytes at the most`;
  if (isDeeper(body)) return `the body may have ${MAX_LEVELS} levels at the most`;
  const infinite = Object.keys(FIELDS[type]).find((name) => hasInfinity(given[name]));
  if (infinite) return `\`${infinite}\` has a number beyond what JSON readers hold, 1.8e308`;
  return undefined;
};

/**
 * Checks the body of an operation by the rules of the interface. What it does not know is left out, and the defaults
 * that it names are filled in; an event without a time has that of its arrival.
 */
export const checkBody = (
  type: RecordType,
  body: unknown,
  receivedAt: string,
  { projects, channels }: BodyRules,
): { body: EventBody | IdentifyBody } | Refusal => {
  const fault = faultOf(type, body);
  if (fault) return refusalOf('field', fault);
  const given = body as Record<string, unknown>;
  const { project, channel } = given as { project: string; channel: string };
  if (projects && !projects.includes(project)) {
    const fix = 'Add it to the projects of the service, or correct it in the tag.';
    return refusalOf('project', `The service does not list the project "${project}". ${fix}`);
  }
  if (type === 'event' && channels && !channels.includes(channel)) {
    const fix = 'Add it to the channels of the service, or correct it in the call.';
    return refusalOf('project', `The service does not list the channel "${channel}". ${fix}`);
  }
  const known = Object.entries(given).filter(([name]) => Object.hasOwn(FIELDS[type], name));
  const defaults = type === 'event' ? { notify: false, tags: {}, timestamp: receivedAt } : {};
  const whole = { ...defaults, ...Object.fromEntries(known) } as EventBody | IdentifyBody;
  return JSON.stringify(whole).length > MAX_RECORD
    ? refusalOf('size', `A record may have ${MAX_RECORD} characters at the most.`)
    : { body: whole };
};
