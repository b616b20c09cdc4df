import { mayFail } from '../../util/may-fail.js';
import type { EventBody } from '../../interface/bodies.js';
import type { Row } from '../store/port.js';
import type { EventNames } from './notify-events.js';
import { cutText, createMessage, shownRow, type Group, type Message } from './notify-message.js';

/** The shortest time between two messages about one group. */
const MINUTE_MS = 60_000;
/** Messages that a target gets in a minute at the most. */
const MOST_MESSAGES = 10;
/** No message is about rows that arrived longer ago. */
const DAY_MS = 86_400_000;
/** Groups that are counted apart, so that a flood of names fills no memory. The rows of all others are one group. */
const MOST_GROUPS = 500;
const OTHERS: EventNames = { project: '…', channel: '…', event: '…' };
const MAX_NAME = 200;

/** The last message about a group: it has told the target of all rows of the group up to a place. */
interface Told {
  place: number;
  at: number;
}

/** The message under way: the rows up to a place that are waiting, of one group or of all. */
interface Sending {
  upto: number;
  /** When it was made. The age of rows counts up to this time, so that the message stays the same. */
  at: number;
  key?: string;
}

/** What the store keeps for a ledger, beside the place. */
interface Memo {
  told: readonly (readonly [key: string, told: Told])[];
  sending?: Sending | undefined;
}

const keyOf = ({ project, channel, event }: EventNames): string =>
  JSON.stringify([project, channel, event]);
const OTHERS_KEY = keyOf(OTHERS);

/**
 * Remembers which rows a target has been told of, and decides about its next message. The first row of a group makes a
 * message at once. After that, there is one a minute with the number of rows that came meanwhile. If more groups are due
 * than the ten messages a minute allow, one message is about all of them.
 *
 * The memo has to be stored before a message goes out and after it has arrived. A process that is killed between the two
 * sends the same message again, made of the same rows, and no row is in two messages.
 *
 * @param place the place of the target in the store: it has been told of all rows up to this one
 */
export const createLedger = (place: number, memoText: string | undefined) => {
  const memo = mayFail(() => JSON.parse(memoText ?? '') as Memo);
  const told = new Map(memo?.told);
  let sending = memo?.sending;
  /** All rows up to this place are in the groups below. */
  let read = place;
  /** The groups with rows that the target has not been told of, in the order of their first rows. */
  const waiting = new Map<string, Group>();
  let lastTold = Math.max(0, ...[...told.values()].map(({ at }) => at));

  const count = (key: string, names: EventNames, row: Row): void => {
    const [group, last] = [waiting.get(key), shownRow(row)];
    waiting.set(
      key,
      group
        ? { ...group, count: group.count + 1, last }
        : { ...names, place: row.seq, count: 1, first: last, last },
    );
  };

  const add = (row: Row): void => {
    const { project, channel, event } = row.body as EventBody;
    const names = {
      project: cutText(project, MAX_NAME),
      channel: cutText(channel, MAX_NAME),
      event: cutText(event, MAX_NAME),
    };
    const key = keyOf(names);
    if (row.seq <= (told.get(key)?.place ?? 0)) return;
    if (waiting.has(key) || waiting.size < MOST_GROUPS) count(key, names, row);
    else count(OTHERS_KEY, OTHERS, row);
  };

  /** The times of the messages of the last minute. No two messages have the same time. */
  const recent = (now: number): number[] =>
    [...new Set([...told.values()].map(({ at }) => at))]
      // If the clock was set back, a time in the future says nothing.
      .filter((at) => Math.abs(now - at) < MINUTE_MS)
      .sort((one, other) => one - other);
  /** How long a group has to wait for its next message. */
  const quietMs = (key: string, now: number): number => {
    const at = told.get(key)?.at ?? 0;
    return Math.abs(now - at) < MINUTE_MS ? at + MINUTE_MS - now : 0;
  };

  /** The keys of the groups that a message is about. */
  const keysOf = ({ key }: Sending): string[] => (key === undefined ? [...waiting.keys()] : [key]);

  /** Takes note that the message under way has arrived. */
  const settle = (now: number): void => {
    if (!sending) return;
    const at = lastTold - now < MINUTE_MS ? Math.max(now, lastTold + 1) : now;
    lastTold = at;
    for (const key of keysOf(sending)) {
      told.set(key, { place: sending.upto, at });
      waiting.delete(key);
    }
    sending = undefined;
  };

  const choose = (now: number): Sending | { waitMs: number } => {
    const keys = [...waiting.keys()];
    const due = keys.filter((key) => !quietMs(key, now));
    const isFlood = waiting.has(OTHERS_KEY);
    if (!due.length && !isFlood)
      return { waitMs: Math.min(...keys.map((key) => quietMs(key, now))) };
    const sent = recent(now);
    const room = MOST_MESSAGES - sent.length;
    if (room <= 0) return { waitMs: sent[-room]! + MINUTE_MS - now };
    if (isFlood || due.length > room) return { upto: read, at: now };
    return { upto: read, at: now, key: due[0]! };
  };

  return {
    /** Which rows have to be read: those behind `after`, up to `upto`. */
    unread: (): { after: number; upto: number } => ({
      after: read,
      upto: sending?.upto ?? Infinity,
    }),
    /** Adds rows that ask for a notification. By now all rows up to the place `upto` are read. */
    add: (rows: readonly Row[], upto: number, now: number): void => {
      const oldest = (sending?.at ?? now) - DAY_MS;
      for (const row of rows) if (Date.parse(row.received_at) >= oldest) add(row);
      read = upto;
    },
    /** The message under way, or the next one, which is under way from then on; or how long to wait for it. */
    next: (now: number): { message: Message } | { waitMs: number } => {
      const chosen = sending ?? choose(now);
      if ('waitMs' in chosen) return chosen;
      sending = chosen;
      const groups = keysOf(chosen).map((key) => waiting.get(key));
      const [first, ...more] = groups.filter((group) => group !== undefined);
      if (first) return { message: createMessage([first, ...more]) };
      settle(now); // its rows were erased meanwhile
      return { waitMs: 0 };
    },
    settle,
    /** What the store has to keep: the place up to which the target has been told of all rows, and the memo. */
    kept: (now: number): { place: number; memo: string } => {
      const place = Math.min(read, ...[...waiting.values()].map((group) => group.place - 1));
      for (const [key, one] of told)
        if (one.place <= place && Math.abs(now - one.at) >= MINUTE_MS) told.delete(key);
      return { place, memo: JSON.stringify({ told: [...told], sending } satisfies Memo) };
    },
  };
};
