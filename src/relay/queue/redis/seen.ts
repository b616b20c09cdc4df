import { nanoid } from 'nanoid';
import { positive, text } from '../../../interface/kinds.js';
import type { BatchResult } from '../../../interface/wire.js';
import { checkOptions, count } from '../../check-options.js';
import { isFinal } from '../record.js';
import { idBoundsOf, REFUSED_MS, type IdBounds, type Seen, type Sighting } from '../ports.js';
import { createScript, REDIS_CLIENT, type RedisClient } from './client.js';
import { BEGIN, FINISH, FORGET } from './scripts.js';

export interface RedisSeenOptions extends IdBounds {
  /** A connected client of the `redis` package, version 5. */
  client: RedisClient;
  /** Begins the name of every key. @default 'analytics-outbox' */
  prefix?: string | undefined;
  /**
   * Milliseconds an id is kept. As long as clients keep a record, or a late repeat is new.
   * @default 604800000 (7 days)
   */
  maxAge?: number | undefined;
}

/** How a claim is stored. Results are JSON objects and never begin so. */
const CLAIM = 'begun ';
/** Redis takes whole milliseconds from 1. */
const wholeMs = (ms: number): string => String(Math.max(1, Math.ceil(ms)));

/** The ids of records that the relay has sent, shared by all processes on one Redis 7.0 or later. */
export const createRedisSeen = (options: RedisSeenOptions): Seen => {
  checkOptions('createRedisSeen', options, {
    kinds: {
      ...{ client: REDIS_CLIENT, prefix: text, maxAge: positive },
      ...{ maxIds: count, maxIdsOfClient: count },
    },
    required: ['client'],
  });
  const { client, prefix = 'analytics-outbox', maxAge = 7 * 86_400_000 } = options;
  const { maxIds, maxIdsOfClient } = idBoundsOf(options);
  const begin = createScript(client, BEGIN);
  const forget = createScript(client, FORGET);
  const finish = createScript(client, FINISH);
  const mark = CLAIM + nanoid();
  const keyOf = (id: string) => `{${prefix}}:seen:${id}`;

  const read = (known: string): Sighting => {
    if (!known) return { state: 'new' };
    if (known.startsWith(CLAIM)) return { state: 'begun' };
    return { state: 'done', result: JSON.parse(known) as BatchResult };
  };

  return {
    begin: async (ids, claimMs) => {
      if (!ids.length) return [];
      const known = await begin({ keys: ids.map(keyOf), args: [mark, wholeMs(claimMs)] });
      return (known as string[]).map(read);
    },
    finish: async (results, whose = '') => {
      if (!results.length) return;
      const lists = [`{${prefix}}:ids`, `{${prefix}}:ids:`];
      const args = results.flatMap((one) => [
        isFinal(one) ? 'final' : '',
        wholeMs(one.outcome === 'rejected' ? Math.min(maxAge, REFUSED_MS) : maxAge),
        JSON.stringify(one),
      ]);
      const gone = (await finish({
        keys: [...lists, ...results.map(({ id }) => keyOf(id))],
        args: [CLAIM, encodeURIComponent(whose), maxIds, maxIdsOfClient, ...args],
      })) as [number, number];
      return { maxIds: gone[0], maxIdsOfClient: gone[1] };
    },
    forget: async (ids) => {
      if (ids.length) await forget({ keys: ids.map(keyOf), args: [mark] });
    },
  };
};
