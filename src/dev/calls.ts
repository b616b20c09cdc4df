import { isObject } from '../util/is-object.js';
import { mayFail } from '../util/may-fail.js';
import type { Call } from '../client/record.js';
import type { Drop, OutboxRecord } from '../client/types.js';
import { answerOf } from './delivery.js';
import { didYouMean } from './meant.js';
import { spaceAround } from './options.js';
import { changedValues } from './values.js';

/** Fields that an unknown key may be a misspelling of. */
const FIELDS = 'channel description icon notify tags timestamp userId user_id'.split(' ');
/** The same by names that other tools have. */
const OTHERS = {
  user: 'userId',
  time: 'timestamp',
  metadata: 'tags',
};
/** Fields that the tracker sends as they are, and that the service refuses if they are of another type. */
const TYPES = { channel: 'string', description: 'string', icon: 'string', notify: 'boolean' };
/** A number below this (1973 in milliseconds) is more likely to be a time of this century in seconds. */
const FIRST_MS = 1e11;

const calledBy = ({ type, subject }: Call): string =>
  `\`${typeof subject === 'string' && subject ? subject : type}\``;

/** Slips: what was probably meant otherwise, though the call counts as it is. */
export const slipsOf = (call: Call): string[] => {
  const { type, subject, given, more = [] } = call;
  const name = calledBy(call);
  const slips = spaceAround(`\`${type}\` is called with`, subject);
  if (more.some((argument) => argument !== undefined)) {
    slips.push(`\`${type}\` takes two arguments: the others of ${name} were not sent`);
  }
  if (!isObject(given)) return slips;
  for (const [path, change] of changedValues(given)) {
    const what = path ? `\`${path}\` of ${name}` : `what ${name} is given`;
    slips.push(`${what} ${change}: give what JSON can hold`);
  }
  if (type === 'identify') return slips;
  for (const key of Object.keys(given)) {
    const meant = didYouMean(key, FIELDS, undefined, OTHERS);
    if (meant) slips.push(`\`${key}\` of ${name} is sent as a tag: ${meant}`);
  }
  const { timestamp, userId, user_id = userId } = given;
  if (typeof timestamp === 'number' && timestamp < FIRST_MS)
    slips.push(`\`timestamp\` of ${name} looks like seconds: give milliseconds`);
  if (userId !== undefined && user_id !== userId)
    slips.push(`\`userId\` and \`user_id\` of ${name} differ: \`userId\` was taken; give only one`);
  return slips;
};

/** The part of a value that JSON cannot hold, and why; without a reason if reading it throws an error. */
const culprit = (
  value: unknown,
  path: string[] = [],
  above: unknown[] = [],
): [string[], string?] => {
  if (typeof value === 'bigint') return [path, 'BigInt'];
  if (above.includes(value)) return [path, 'it contains itself'];
  const object = value as Record<string, unknown>;
  const fails = (key: string) => !mayFail(() => [JSON.stringify(object[key])]);
  const key = mayFail(() => Object.keys(object).find(fails));
  if (key === undefined) return [path];
  return culprit(
    mayFail(() => object[key]),
    [...path, key],
    [...above, value],
  );
};

/** What to write, by what the tracker says of a call: its message, or else its reason. */
const FIXES: Readonly<Record<string, string>> = {
  'wrong name': "give the event's name first",
  'wrong fields': 'give an object second',
  'wrong userId': 'give a real id, a text or a number',
  'wrong tags': 'give an object',
  'wrong timestamp': 'give a Date or an ISO 8601 text',
  setConsent: 'give granted, pending or denied',
  'too-large': 'send less, or raise `maxRecordBytes`',
  'not-serializable': 'give what JSON can hold',
  'before-send-error': '`beforeSend` must return the draft or null, at once',
};

const whyDropped = ({ reason, message }: Drop, call: Call | undefined): string => {
  const fix = FIXES[message] ?? FIXES[reason];
  const [path, why = reason === 'rejected' ? answerOf(message) : message] =
    reason === 'not-serializable' ? culprit(call?.given) : [[]];
  const part = path.length ? `\`${path.join('.')}\` of ` : '';
  return `${part}${call ? `${calledBy(call)}: ` : ''}${why}${fix ? `: ${fix}` : ''}`;
};

/** Reasons of drops that a developer can do something about. */
const TOLD = /^(invalid|not-|too-|before-send-error|rejected|outbox-full)/;

/** What a developer is told of a drop, if anything. `call`: the call, if it never became a record. */
export const dropText = (drop: Drop, call: Call | undefined): string | undefined => {
  const { reason, record } = drop;
  if (!TOLD.test(reason)) return undefined;
  return `${record ? nameOf(record) : 'a call'} was dropped (${reason}): ${whyDropped(drop, call)}`;
};

type Body = Record<string, unknown>;

export const bodyOf = ({ body }: OutboxRecord): Body => JSON.parse(body) as Body;

export const nameOf = (record: OutboxRecord): string => {
  const { event, user_id } = bodyOf(record);
  return `${record.type} ${JSON.stringify(event ?? user_id)}`;
};

/** What the service will refuse in a record. */
export const refusalsOf = (record: OutboxRecord): string[] => {
  const body = bodyOf(record);
  return Object.entries(TYPES)
    .filter(([field, type]) => body[field] !== undefined && typeof body[field] !== type)
    .map(
      ([field, type]) => `\`${field}\` of ${nameOf(record)} must be a ${type}, or it is refused`,
    );
};
