import { callOnce } from '../util/call-once.js';
import { messageOf } from '../util/errors.js';
import { isObject } from '../util/is-object.js';
import { MAX_USER_BYTES } from '../interface/max-user-bytes.js';
import { NOBODY } from '../interface/nobody.js';
import type { Settings } from './options.js';
import { mayFail } from '../util/may-fail.js';
import { byteLength, newId } from './page.js';
import type { Draft, DropReason, EventBody, OutboxRecord, RecordType } from './types.js';

/** Why a call becomes no record. It is thrown, and never leaves the client. */
export interface Refusal {
  reason: DropReason;
  message: string;
}

export const refuse = (reason: DropReason, message: string = reason): never => {
  throw { reason, message } satisfies Refusal;
};

/** A call with the time at which it was made. */
export interface Call {
  type: RecordType;
  at: number;
  /** When it was called by the clock of the device, if it is made later. */
  said?: number | undefined;
  /** The user's id, or the name of the event. */
  subject: unknown;
  /** Properties, or fields and tags. */
  given: unknown;
  /** What the page was at the call, if it was read then, as tags: `path` and `title`. */
  seen?: object | undefined;
  /** Arguments after these, which are not sent. */
  more?: unknown[];
}

const expect = (isRight: boolean, what: string): void => {
  if (!isRight) refuse('invalid-call', `wrong ${what}`);
};

/** An id as text. `undefined` and the like are what a page's code makes by mistake of an id that it does not have. */
const idOf = (value: unknown): string => {
  const id = Number.isFinite(value) ? `${value as number}` : value;
  const isText = typeof id === 'string' && byteLength(id) <= MAX_USER_BYTES;
  expect(isText && !NOBODY.test(id), 'userId');
  return id as string;
};

/**
 * A time as ISO 8601 text. `Date` takes much more than is meant: `true`, `'99'`, microseconds. Anything but a number, or a
 * text or an object (Date, Temporal) whose JSON begins with a year of four figures is refused, and any other year.
 */
const timeOf = (value: unknown): string => {
  const time = (value as Partial<Date>).toJSON?.() ?? (value as number | string);
  const isTime = typeof time === 'number' || /^\d{4}/.test(time);
  const text = new Date(time).toJSON();
  expect(isTime && /^\d/.test(text), 'timestamp');
  return text;
};

/** Copies a value as JSON will carry it. Throws if JSON cannot. */
export const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value) ?? 'null') as T;

/** The tags that the option `context` gives. One that fails gives none, and one that makes an event gets none for it. */
const contextTags = (context: Settings['context'], known: object): object | undefined => {
  const tags = mayFail(() =>
    copy(
      typeof context === 'function'
        ? callOnce(context as (known: object) => unknown, known)
        : context,
    ),
  );
  return isObject(tags) ? tags : undefined;
};

/** The body of an event's request. A field that is not given is not sent, since JSON leaves undefined out. `tags` is. */
const eventBody = (
  { subject, at, seen }: Call,
  given: Record<string, unknown>,
  { project, channel: usual, context }: Settings,
  user: string | undefined,
): object => {
  const {
    channel = usual,
    description,
    icon,
    notify,
    tags,
    timestamp,
    user_id = user,
    userId = user_id,
    ...rest
  } = given;
  expect(typeof subject === 'string' && !!subject, 'name');
  expect(tags === undefined || isObject(tags), 'tags');
  const own = { ...rest, ...(tags as object) };
  return {
    project,
    channel,
    event: subject,
    description,
    icon,
    notify,
    tags: { ...(context && contextTags(context, { ...seen, ...own })), ...own },
    user_id: userId === null || userId === undefined ? undefined : idOf(userId),
    timestamp: timeOf(timestamp ?? at),
  };
};

/** Calls a function of the page. If it throws, nothing is sent that it may have been about to remove. */
const filter = (draft: Draft, beforeSend: Settings['beforeSend']): object => {
  if (!beforeSend) return draft.body;
  const own = { ...draft, body: copy(draft.body) } as Draft;
  let kept;
  try {
    kept = callOnce(beforeSend, own); // nothing for a call that it makes itself
  } catch (error) {
    return refuse('before-send-error', messageOf(error));
  }
  if (kept === null) return refuse('before-send');
  if (!isObject(kept?.body)) return refuse('before-send-error');
  return kept.body;
};

/**
 * Makes a call a record: its body is the JSON text that goes on the wire. Throws what keeps it from being one.
 * @param made ids that `beforeSend` has made of others, to which it adds: it may take one away, and makes no other id of it
 */
export const recordOf = (
  call: Call,
  settings: Settings,
  user: string | undefined,
  made: Set<unknown>,
): OutboxRecord => {
  const { type, at, subject } = call;
  const { project, beforeSend, maxRecordBytes } = settings;
  const given = (call.given ?? {}) as Record<string, unknown>;
  expect(isObject(given), 'fields');
  const full = (
    type === 'event'
      ? eventBody(call, given, settings, user)
      : { project, user_id: idOf(subject), properties: given }
  ) as EventBody;
  const { user_id } = full;
  let kept = filter({ type, body: full } as Draft, beforeSend) as EventBody;
  if (kept.user_id) {
    if (made.has(user_id)) kept = { ...kept, user_id: user_id! };
    else if (kept.user_id !== user_id) made.add(kept.user_id);
  }
  const body = JSON.stringify(kept);
  // No text has more than three bytes a character, so most need no measuring.
  if (3 * body.length > maxRecordBytes) {
    const size = byteLength(body);
    if (size > maxRecordBytes) refuse('too-large', `${size} bytes`);
  }
  return { id: newId(), type, body, at, attempts: 0, user: kept.user_id };
};
