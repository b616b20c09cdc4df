import { messageOf } from '../../../interface/errors.js';
import { positive, text } from '../../../interface/kinds.js';
import type { BatchResult } from '../../../interface/wire.js';
import { checkOptions, objectWith } from '../../check-options.js';
import { isFinal } from '../record.js';
import type { Seen, Sighting } from '../ports.js';
import type { KvNamespace } from './queue.js';

export interface KvSeenOptions {
  /** The binding of a KV namespace. */
  namespace: KvNamespace;
  /** Begins the name of every key. @default 'seen:' */
  prefix?: string | undefined;
  /** Milliseconds an id is kept, a minute at least. @default 604800000 (7 days) */
  maxAge?: number | undefined;
}

/** KV refuses a shorter life. https://developers.cloudflare.com/kv/api/write-key-value-pairs/#expiring-keys */
const SHORTEST_S = 60;
const CLAIM = 'begun';

/**
 * The ids a relay has passed on, in Cloudflare KV. It finds most repeats, not all: KV has no step that reads
 * and writes at once, and what is written in one place may be seen in others after a minute or more. So of
 * two requests with one id at the same time both may hear `new`. Leave `idempotencyKey` on; where the
 * service ignores it and a repeat must not happen, keep the ids in a Durable Object or in Redis.
 * https://developers.cloudflare.com/kv/concepts/how-kv-works/#consistency
 */
export const createKvSeen = (options: KvSeenOptions): Seen => {
  checkOptions('createKvSeen', options, {
    kinds: { namespace: objectWith('get', 'put', 'delete'), prefix: text, maxAge: positive },
    required: ['namespace'],
  });
  const { namespace, prefix = 'seen:', maxAge = 7 * 86_400_000 } = options;
  const life = (ms: number) => ({ expirationTtl: Math.max(SHORTEST_S, Math.ceil(ms / 1_000)) });
  const keyOf = (id: string) => prefix + id;

  const sight = async (id: string, claimMs: number): Promise<Sighting> => {
    const known = await namespace.get(keyOf(id));
    if (known === CLAIM) return { state: 'begun' };
    if (known) return { state: 'done', result: JSON.parse(known) as BatchResult };
    await namespace.put(keyOf(id), CLAIM, life(claimMs));
    return { state: 'new' };
  };

  const keep = async (result: BatchResult): Promise<void> => {
    const known = isFinal(result) ? null : await namespace.get(keyOf(result.id));
    if (known && known !== CLAIM) return;
    await namespace.put(keyOf(result.id), JSON.stringify(result), life(maxAge));
  };

  return {
    begin: (ids, claimMs) => Promise.all(ids.map((id) => sight(id, claimMs))),
    finish: async (results) => {
      await allOf(results.map(keep));
    },
    forget: async (ids) => {
      await allOf(ids.map((id) => namespace.delete(keyOf(id))));
    },
  };
};

/**
 * KV takes one write a second to a key and fails the others. All writes are tried; then the first failure is
 * thrown.
 */
const allOf = async (writes: readonly Promise<void>[]): Promise<void> => {
  const failed = (await Promise.allSettled(writes)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected')
    throw new Error(messageOf(failed.reason), { cause: failed.reason });
};
