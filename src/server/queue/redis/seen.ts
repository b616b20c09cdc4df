import { nanoid } from 'nanoid';
import { positive, text } from '../../../interface/kinds.js';
import type { BatchResult } from '../../../interface/wire.js';
import { checkOptions, count } from '../../check-options.js';
import {
  idBoundsOf,
  REFUSED_MS,
  SEEN_MS,
  type IdBounds,
  type Seen,
  type Sighting,
} from '../ports.js';
import { createClaimCalls, type GivenUp } from '../claim-calls.js';
import { isFinal } from '../record.js';
import { createScript, keyOf, REDIS_CLIENT, type RedisClient } from './client.js';
import { FREES_MEMORY } from './scripts.js';

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

const KEYS = [
  // Begins the key of each id, which ends by itself. It has the result as JSON or, while the id is claimed, the mark of
  // the process and the number of its call.
  'seen:',
  // Sorted set of clients by how many results they have; `` stands for all of them.
  'ids',
  // Begins the key of each client: the list of its results' keys, the oldest first.
  'ids:',
];
/** How a claim begins. Results are JSON objects and never begin so. */
const CLAIM = 'begun ';

/**
 * The mark of the process, the number of the call, a life in ms, how many claims are given up; then for each of these
 * its id and the numbers of the first and the last call that may have made it; then the ids to be claimed. Gives up
 * before it claims. Answers for each id what stood there, or an empty text.
 */
const CLAIM_IDS = `${FREES_MEMORY}
local me, number, life, count = unpack(ARGV, 1, 4)
local ids = 5 + 3 * count
for i = 5, ids - 1, 3 do
  local id, first, last = unpack(ARGV, i, i + 2)
  local known = redis.call('GET', KEYS[1] .. id) or ''
  local by = string.sub(known, 1, #me) == me and tonumber(string.sub(known, #me + 1))
  if by and by >= tonumber(first) and by <= tonumber(last) then redis.call('DEL', KEYS[1] .. id) end
end
local known = {}
for i = ids, #ARGV do
  known[#known + 1] = redis.call('SET', KEYS[1] .. ARGV[i], me .. number, 'NX', 'GET', 'PX', life) or ''
end
return known`;

/**
 * The client, how many ids are kept in all and of a client, then for each its id, whether it is final, its life in ms,
 * its result. One that is not final takes the place of a claim only. Answers how many ids had to go: of all, and of
 * the client.
 */
const FINISH = `${FREES_MEMORY}
local seen, counts, lists = unpack(KEYS)
local client, most, mostOfClient = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local call = redis.call

local function change(whose, by)
  call('ZINCRBY', counts, by, '')
  if tonumber(call('ZINCRBY', counts, by, whose)) == 0 then call('ZREM', counts, whose) end
end
-- Forgets the oldest id of a client. Answers 1 where it was known still.
local function forget(whose)
  local key = call('LPOP', lists .. whose)
  change(whose, -1)
  return call('DEL', key)
end
-- Ids whose time is over stand in front.
local function sweep(whose, limit)
  for _ = 1, limit do
    local key = call('LINDEX', lists .. whose, 0)
    if not key or call('EXISTS', key) == 1 then return end
    forget(whose)
  end
end
local function isOver(whose, bound) return tonumber(call('ZSCORE', counts, whose) or 0) > bound end

local whose = client == '' and '-' or client
for i = 4, #ARGV, 4 do
  local id, isFinal, life, result = unpack(ARGV, i, i + 3)
  local known = call('GET', seen .. id)
  local isKept = known and string.sub(known, 1, ${CLAIM.length}) ~= '${CLAIM}'
  if isFinal ~= '' or not isKept then call('SET', seen .. id, result, 'PX', life) end
  if not isKept then
    call('RPUSH', lists .. whose, seen .. id)
    change(whose, 1)
  end
end
sweep(whose, #ARGV)
local other = call('ZRANDMEMBER', counts)
if other ~= '' then sweep(other, #ARGV + 20) end
local ofAll, ofClient = 0, 0
while client ~= '' and isOver(client, mostOfClient) do ofClient = ofClient + forget(client) end
while isOver('', most) do
  local first, second = unpack(call('ZREVRANGE', counts, 0, 1)) -- all are the most, but where one client has all
  ofAll = ofAll + forget(first == '' and second or first)
end
return { ofAll, ofClient }`;

/** Redis takes whole milliseconds from 1. */
const wholeMs = (ms: number): number => Math.max(1, Math.ceil(ms));

/** How many claims are given up, and which, as the script takes them. */
const argsOf = (givenUp: readonly GivenUp[]): (string | number)[] => [
  givenUp.length,
  ...givenUp.flatMap(({ id, first, last }) => [id, first, last]),
];

/** The ids of records that the relay has sent, shared by all processes on one Redis 7.0 or later. */
export const createRedisSeen = (options: RedisSeenOptions): Seen => {
  checkOptions('createRedisSeen', options, {
    kinds: {
      ...{ client: REDIS_CLIENT, prefix: text, maxAge: positive },
      ...{ maxIds: count, maxIdsOfClient: count },
    },
    required: ['client'],
  });
  const { client, prefix = 'analytics-outbox', maxAge = SEEN_MS } = options;
  const { maxIds, maxIdsOfClient } = idBoundsOf(options);
  const script = (source: string) =>
    createScript(
      client,
      source,
      KEYS.map((name) => keyOf(prefix, name)),
    );
  const [claimIds, finish] = [script(CLAIM_IDS), script(FINISH)];
  const call = createClaimCalls();
  const me = `${CLAIM}${nanoid()} `;

  const read = (known: string): Sighting => {
    if (!known) return { state: 'new' };
    if (known.startsWith(CLAIM)) return { state: 'begun' };
    return { state: 'done', result: JSON.parse(known) as BatchResult };
  };

  const begin = (ids: readonly string[], claimMs: number): Promise<Sighting[]> =>
    call({ claims: ids }, async (number, givenUp) => {
      const known = await claimIds(...[me, number, wholeMs(claimMs)], ...argsOf(givenUp), ...ids);
      return (known as string[]).map(read);
    });

  return {
    begin: async (ids, claimMs) => (ids.length ? begin(ids, claimMs) : []),
    finish: async (results, whose = '') => {
      if (!results.length) return;
      const args = results.flatMap((one) => [
        ...[one.id, isFinal(one) ? 'final' : ''],
        wholeMs(one.outcome === 'rejected' ? Math.min(maxAge, REFUSED_MS) : maxAge),
        JSON.stringify(one),
      ]);
      const bounds = [encodeURIComponent(whose), maxIds, maxIdsOfClient];
      const gone = (await finish(...bounds, ...args)) as [number, number];
      return { maxIds: gone[0], maxIdsOfClient: gone[1] };
    },
    forget: async (ids) => {
      if (!ids.length) return;
      await call({ forgets: ids }, (number, givenUp) =>
        claimIds(me, number, 1, ...argsOf(givenUp)),
      );
    },
  };
};
