import type { Hour, Refused } from '../server/store/port.js';

/** The classes of delay in which rows are summed by hour. */
export type DelayClass = keyof Pick<Hour, 'in_2s' | 'in_1m' | 'in_1h' | 'later' | 'from_server'>;

/** How long after their calls rows came. */
export const DELAY_WORDS: Readonly<Record<DelayClass, string>> = {
  in_2s: 'At once, within 2 s',
  in_1m: 'Within a minute',
  in_1h: 'Within an hour',
  later: 'Over an hour later',
  from_server: 'From a server, by token',
};

interface Words {
  title: string;
  fix: string;
}

/** What a refusal means, and what one can do about it. The service's own words stand beside it. */
const WORDS: Readonly<Record<Refused['reason'] | 'origin', Words>> = {
  origin: {
    title: 'The page’s origin may not send',
    fix: 'Add the origin of the page to SITE_ORIGIN of the service.',
  },
  token: {
    title: 'Token not accepted',
    fix: 'Send one of the write tokens of the service as “Authorization: Bearer …”. By a relay, give the token to the relay.',
  },
  body: {
    title: 'Body cannot be read',
    fix: 'Send one JSON object, in UTF-8, as “Content-Type: application/json”.',
  },
  field: {
    title: 'A field is wrong',
    fix: 'Change the call so that the named field is what the message asks for. The snippet’s developer build says the same in the console.',
  },
  project: {
    title: 'Project or channel not listed',
    fix: 'Add it to PROJECTS or CHANNELS of the service, use a token that may write to it, or correct its name in the tag.',
  },
  size: {
    title: 'Too large',
    fix: 'Send less in one record. Put large data elsewhere, and its address into a tag.',
  },
  rate: {
    title: 'Too many at a time',
    fix: 'The snippet waits and sends again. Raise the limit of the service if this is a wanted load.',
  },
  database: {
    title: 'The database refuses this record',
    fix: 'Put right what the database names, and send the record again from here.',
  },
  target: {
    title: 'Stored, and refused where it was to go',
    fix: 'Put right what the target or service names. Send the row to a service again from here; “export verify” writes it to a warehouse.',
  },
};

/** A newer service may have more reasons than this page knows. */
export const refusalWords = (reason: string): Words =>
  Object.hasOwn(WORDS, reason)
    ? WORDS[reason as keyof typeof WORDS]
    : { title: `Refused: ${reason}`, fix: '' };
