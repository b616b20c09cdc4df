import { nanoid } from 'nanoid';
import { callback, text } from '../../../interface/kinds.js';
import { checkOptions, count, notNegative } from '../../check-options.js';
import {
  boundsOf,
  idBoundsOf,
  LONGEST_WAIT_MS,
  QueueFullError,
  type DeadLetter,
  type DeadLetters,
  type IdBounds,
  type Placed,
  type Queue,
  type QueueBounds,
  type QueuedRecord,
  type Taken,
} from '../ports.js';
import { keyOf as recordKeyOf, lineOf } from '../../incoming.js';
import { readQueued, writeQueued } from '../record.js';
import { createScript, keyOf, REDIS_CLIENT, type RedisClient, warningsOf } from './client.js';
import * as scripts from './scripts.js';

export interface RedisQueueOptions extends QueueBounds, IdBounds {
  /** Of `createRedisQueue`: a connected client of the package `redis`, version 5. */
  client: RedisClient;
  /** Of `createRedisQueue`: begins the name of every key. @default 'analytics-outbox' */
  prefix?: string | undefined;
  /** In place of `Date.now`. */
  now?: (() => number) | undefined;
}

export interface RedisQueue extends Required<Queue> {
  deadLetters: DeadLetters;
}

/** What the answers of the script mean. */
const PLACED: Readonly<Record<string, Placed>> = {
  queued: 'queued',
  known: 'known',
  all: 'full',
  client: 'full of sender',
};

/** An entry of the stream: its id begins with the milliseconds at which it was added. */
type Entry = [id: string, fields: ['r', record: string, 'reason', reason: string]];

/**
 * A durable queue that many processes share, in Redis 7.0 or later. Redis decides how durable it is:
 * `appendonly yes` and `appendfsync always` survive a crash of the machine.
 */
export const createRedisQueue = (options: RedisQueueOptions): RedisQueue => {
  checkOptions('createRedisQueue', options, {
    kinds: {
      ...{ client: REDIS_CLIENT, prefix: text, maxWaiting: count, maxWaitingOfClient: count },
      ...{ maxDead: count, maxDeadOfClient: count, now: callback },
      ...{ idAge: notNegative, maxIds: count, maxIdsOfClient: count },
    },
    required: ['client'],
  });
  const { client, prefix = 'analytics-outbox', now = () => Date.now() } = options;
  const bounds = boundsOf(options);
  const ids = idBoundsOf(options);
  const keys = scripts.QUEUE_KEYS.map((name) => keyOf(prefix, name));
  const script = (source: string) => createScript(client, source, keys);
  const [put, take, done] = [script(scripts.PUT), script(scripts.TAKE), script(scripts.DONE)];
  const [giveBack, bury] = [script(scripts.GIVE_BACK), script(scripts.BURY)];
  const [list, resend] = [script(scripts.LIST), script(scripts.RESEND)];
  const [purge, size] = [script(scripts.PURGE), script(scripts.SIZE)];
  const tryNow = script(scripts.TRY_NOW);
  const secretKey = keyOf(prefix, 'secret');
  /** The token of the last call to `take` that failed: Redis may have done it, and the answer was lost. */
  let lost = '';

  const lettersOf = async (from: string, to: string, limit: number): Promise<DeadLetter[]> =>
    ((await list(from, to, limit)) as Entry[]).map(readEntry);

  const deadLetters: DeadLetters = {
    list: ({ limit = 100, after } = {}) => lettersOf(after ? `(${after}` : '-', '+', limit),
    resend: async (ids) => {
      const known = ids.filter(isEntryId);
      const letters = (await Promise.all(known.map((id) => lettersOf(id, id, 1)))).flat();
      const at = now();
      const args = letters.flatMap(({ id, record }) => [id, ...putArgsOf({ ...record, at })]);
      const resent = args.length ? Number(await resend(bounds.maxWaiting, ...args)) : 0;
      if (resent === -1) throw new QueueFullError(bounds);
      return resent;
    },
    purge: async (ids) => Number(await purge(...ids.filter(isEntryId))),
  };

  return {
    put: async (records) => {
      if (!records.length) return { placed: [] };
      const { maxWaiting, maxWaitingOfClient } = bounds;
      const sender = senderOf(records[0]!);
      const [placed, maxIds, maxIdsOfClient] = (await put(
        ...[maxWaiting, maxWaitingOfClient],
        ...[Math.ceil(ids.idAge), ids.maxIds, ids.maxIdsOfClient, sender],
        ...records.flatMap((record) => [...placeOf(record), record.at, writeQueued(record)]),
      )) as [string[], number, number];
      return {
        placed: placed.map((place) => PLACED[place]!),
        dropped: { maxIds, maxIdsOfClient },
      };
    },
    secret: async () => {
      const made = nanoid();
      // Returns the secret that another process has made, if any. https://redis.io/docs/latest/commands/set/
      return String((await client.sendCommand(['SET', secretKey, made, 'NX', 'GET'])) ?? made);
    },
    take: async (limit, visibilityMs, { only = '' } = {}) => {
      const token = lost || nanoid(); // the same until an answer comes, however often Redis is away meanwhile
      const before = lost;
      lost = '';
      let found: unknown;
      try {
        found = await take(token, limit, visibilityMs, before, only, LONGEST_WAIT_MS);
      } catch (error) {
        lost = token; // not before, since a parallel call would take the records of this one
        throw error;
      }
      return (found as [tries: number, failingMs: number, record: string][]).map(
        ([tries, failingMs, text]): Taken => {
          const record = readQueued(text);
          return { receipt: token, record, attempts: tries + 1, failingMs };
        },
      );
    },
    done: async (taken) => {
      if (taken.length) await done(...taken.flatMap(({ record }) => placeOf(record)));
    },
    giveBack: async (back) => {
      const args = back.flatMap(({ taken: { receipt, record }, delayMs, isTried }) => [
        ...[receipt, ...placeOf(record)],
        ...[delayMs, isTried ? 'tried' : ''],
      ]);
      if (args.length) await giveBack(...args);
    },
    bury: async ({ record }, reason) => {
      const letter = [senderOf(record), writeQueued(record), reason];
      const most = [bounds.maxDead, bounds.maxDeadOfClient];
      const gone = (await bury(...placeOf(record), ...letter, ...most)) as [number, number];
      return { maxDead: gone[0], maxDeadOfClient: gone[1] };
    },
    tryNow: async () => void (await tryNow()),
    size: async () => {
      const [waiting, dead, oldest] = (await size()) as [number, number, string];
      return { waiting, dead, ...(oldest && { oldest: Number(oldest) }) };
    },
    check: () => warningsOf(client),
    deadLetters,
  };
};

const readEntry = ([id, [, record, , reason]]: Entry): DeadLetter => ({
  id,
  record: readQueued(record),
  reason,
  diedAt: parseInt(id, 10),
});

/** Redis refuses a whole command in which one id has another form. */
const isEntryId = (id: string): boolean => /^\d+-\d+$/.test(id);

/** The sender without spaces, because the scripts read it up to the next space. */
const senderOf = ({ sender = '' }: QueuedRecord): string => encodeURIComponent(sender);

/** Line and key of a record, as the scripts take them. */
const placeOf = (record: QueuedRecord): string[] => [lineOf(record), recordKeyOf(record)];

/** What the scripts have to know of a record that is put. */
const putArgsOf = (record: QueuedRecord): (string | number)[] => [
  ...placeOf(record),
  ...[record.at, senderOf(record), writeQueued(record)],
];
