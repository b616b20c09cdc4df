import type { Draft, EventBody, IdentifyBody } from '../types.js';
import type { Call, Made } from './call.js';

interface Defaults {
  project: string;
  channel: string;
}

type Fields = Record<string, unknown>;

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const expected = (what: string, wanted: string): Made<never> => ({
  reason: 'invalid-call',
  message: `expected \`${what}\` to be ${wanted}`,
});

const TEXT = 'a non-empty string';
const OBJECT = 'an object';

/** Names the first thing wrong with a body; the fields are the interface's (its sections 2.1 and 2.2). */
export const problemOf = (draft: Draft): Made<never> | undefined => {
  if (!isObject(draft.body)) return expected('body', OBJECT);
  const body = draft.body as Partial<IdentifyBody & EventBody>;
  const wrong = (names: string[], fits: (value: unknown) => boolean, optional?: boolean) =>
    names.find((name) => {
      const value = (body as Fields)[name];
      return !(optional && value === undefined) && !fits(value);
    });
  const isIdentify = draft.type === 'identify';
  const text = wrong(
    isIdentify ? ['project', 'user_id'] : ['project', 'channel', 'event', 'timestamp'],
    isText,
  );
  if (text) return expected(text, TEXT);
  if (isIdentify) {
    return wrong(['properties'], isObject) ? expected('properties', OBJECT) : undefined;
  }
  const optionalText = wrong(['user_id'], isText, true);
  if (optionalText) return expected(optionalText, TEXT);
  const string = wrong(['description', 'icon'], (value) => typeof value === 'string', true);
  if (string) return expected(string, 'a string');
  if (wrong(['notify'], (value) => typeof value === 'boolean', true)) {
    return expected('notify', 'true or false');
  }
  return wrong(['tags'], isObject, true) ? expected('tags', OBJECT) : undefined;
};

/** A time as ISO 8601 in UTC with milliseconds, or undefined where it is no time. */
const isoTime = (value: unknown): string | undefined => {
  // A Date has been copied as its text; of an object, `Date` might throw.
  const time = new Date(/string|number/.test(typeof value) ? (value as string) : NaN);
  if (Number.isNaN(time.getTime())) return undefined;
  const text = time.toISOString();
  return /^\d{4}-/.test(text) ? text : undefined; // RFC 3339 ends with the year 9999
};

const eventBody = (
  { name, at, fields }: Extract<Call, { type: 'event' }>,
  { project, channel }: Defaults,
  user: string | undefined,
): Made<EventBody> => {
  if (fields !== undefined && !isObject(fields)) return expected('fields', OBJECT);
  const { description, icon, notify, tags, userId, timestamp, ...rest } = fields ?? {};
  const time = isoTime(timestamp === undefined ? at : timestamp);
  if (!time) return expected('timestamp', 'a Date or an ISO 8601 string');
  // A field that is not given is not sent: JSON leaves undefined out.
  const body = {
    project,
    channel: rest.channel === undefined ? channel : rest.channel,
    event: name,
    description,
    icon,
    notify,
    tags,
    user_id: userId === undefined ? user : userId === null ? undefined : userId,
    timestamp: time,
  };
  return { value: body as EventBody };
};

/** Makes the wire body of a call. `user` is the identified user at the time of the call. */
export const draftOf = (call: Call, defaults: Defaults, user: string | undefined): Made<Draft> => {
  let draft: Draft;
  if (call.type === 'identify') {
    const body = {
      project: defaults.project,
      user_id: call.userId as string,
      properties: (call.properties ?? {}) as object,
    };
    draft = { type: 'identify', body };
  } else {
    const body = eventBody(call, defaults, user);
    if ('reason' in body) return body;
    draft = { type: 'event', body: body.value };
  }
  return problemOf(draft) ?? { value: draft };
};
