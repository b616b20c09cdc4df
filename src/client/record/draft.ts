import type { Draft, EventBody } from '../types.js';
import type { Call, Made } from './call.js';
import { gatherTags, type Hint } from './gather-tags.js';
import { contextTags } from './context-tags.js';
import { FIELDS, wrongField } from '../../interface/validate.js';
import { isObject } from '../../interface/is-object.js';

interface Defaults {
  project: string;
  channel: string;
  context?: unknown;
}

type Fields = Record<string, unknown>;

const expected = (what: string, wanted: string): Made<never> => ({
  reason: 'invalid-call',
  message: `expected \`${what}\` to be ${wanted}`,
});

const OBJECT = 'an object';

/** Texts that a page's code makes by mistake of an id that it does not have. */
const NO_IDS = [undefined, null, {}, ''].map(String);

/** Fields of the interface that have another name in a call. */
const ARGUMENTS: Readonly<Record<string, string>> = { user_id: 'userId', event: 'name' };

/** Says what is wrong with a body, if anything. `names` gives the fields that the caller knows by another name. */
export const problemOf = (
  { type, body }: Draft,
  names: Readonly<Record<string, string>> = {},
): Made<never> | undefined => {
  const field = wrongField(type, body);
  if (field === undefined) return undefined;
  return expected(names[field] ?? field, FIELDS[type][field]?.words ?? OBJECT);
};

/** A time as ISO 8601 in UTC with milliseconds; undefined if the value is no time. */
const isoTime = (value: unknown): string | undefined => {
  // A Date is a text by now, since it was copied. `Date` would throw on some objects.
  const time = new Date(/string|number/.test(typeof value) ? (value as string) : NaN);
  if (Number.isNaN(time.getTime())) return undefined;
  const text = time.toISOString();
  return /^\d{4}-/.test(text) ? text : undefined; // RFC 3339 has no year after 9999
};

/** A number below this (1973 in milliseconds) is more likely to be a time of this century in seconds. */
const FIRST_MS = 1e11;

/** The user of an event: the one that was given (null for none), or else the identified one. */
const userOf = ({ userId, user_id }: Fields, user: string | undefined, hint: Hint): unknown => {
  if (userId !== undefined && user_id !== undefined && userId !== user_id) {
    hint('`userId` and `user_id` differ: `userId` was taken');
  }
  const given = userId === undefined ? user_id : userId;
  return given === undefined ? user : (given ?? undefined);
};

/** The draft, or what is wrong with it. */
const checked = (draft: Draft): Made<Draft> => {
  const id = draft.body.user_id;
  if (NO_IDS.includes(id as string)) return expected('userId', `an id, not "${id}"`);
  return problemOf(draft, ARGUMENTS) ?? { value: draft };
};

const eventDraft = (
  { name, at, fields = {} }: Extract<Call, { type: 'event' }>,
  { project, channel: usual, context }: Defaults,
  user: string | undefined,
  hint: Hint,
): Made<Draft> => {
  if (!isObject(fields)) return expected('fields', OBJECT);
  // `fields` is a copy. It loses its prototype here, since some scripts give every object more keys.
  const own: Fields = Object.setPrototypeOf(fields, null) as Fields;
  const {
    channel = usual,
    description,
    icon,
    notify,
    tags,
    timestamp,
    userId,
    user_id,
    ...rest
  } = own;
  const time = isoTime(timestamp === undefined ? at : timestamp);
  if (!time) return expected('timestamp', 'a Date or an ISO 8601 string');
  if (typeof timestamp === 'number' && timestamp < FIRST_MS) {
    hint('`timestamp` was taken for milliseconds, but looks like seconds');
  }
  const whose = userOf({ userId, user_id }, user, hint);
  // A field that is not given is not sent: JSON leaves undefined out.
  const body = {
    project,
    channel,
    event: name,
    description,
    icon,
    notify,
    tags: gatherTags(contextTags(context, hint), gatherTags(rest, tags, hint)),
    user_id: whose,
    timestamp: undefined as unknown,
  } as EventBody;
  const made = checked({ type: 'event', body });
  // Set after the check: this text is right, and checking it would take as long as checking all other fields.
  body.timestamp = time;
  return made;
};

/** Makes the body of a call's request. `user` is the identified user at the time of the call. */
export const draftOf = (
  call: Call,
  defaults: Defaults,
  user: string | undefined,
  hint: Hint,
): Made<Draft> => {
  if (call.type === 'event') return eventDraft(call, defaults, user, hint);
  const body = {
    project: defaults.project,
    user_id: call.userId as string,
    properties: (call.properties ?? {}) as object,
  };
  return checked({ type: 'identify', body });
};
