import { callback, positive } from '../../interface/kinds.js';
import type { BatchResult } from '../../interface/wire.js';
import { isFinal } from '../queue/record.js';
import { REFUSED_MS, type Seen, type Sighting } from '../queue/ports.js';
import { checkOptions, count } from '../check-options.js';

export interface SeenMemoryOptions {
  /**
   * Ids kept at the most, about 500 bytes each. When there are more, the client that has the most of them
   * loses its oldest. @default 100000
   */
  maxIds?: number | undefined;
  /** Milliseconds an id is kept. @default 86400000 (a day) */
  maxAge?: number | undefined;
  /** In place of `Date.now`. */
  now?: (() => number) | undefined;
}

interface Entry {
  client: string;
  /** When the claim, or the remembered result, is forgotten. */
  until: number;
  result?: BatchResult;
}

/**
 * The ids of the records that this process has sent, in its memory: other processes do not know them, and
 * after a restart they are gone.
 */
export const createSeenMemory = (options: SeenMemoryOptions = {}): Seen => {
  checkOptions('createSeenMemory', options, {
    kinds: { maxIds: count, maxAge: positive, now: callback },
  });
  const { maxIds = 100_000, maxAge = 86_400_000, now = Date.now } = options;
  const entries = new Map<string, Entry>();
  const shares = createShares();

  const forget = (id: string): void => {
    const entry = entries.get(id);
    if (!entry) return;
    entries.delete(id);
    shares.remove(entry.client, id);
  };
  const keep = (id: string, entry: Entry): void => {
    forget(id); // it is the newest of its client from now on
    entries.set(id, entry);
    shares.add(entry.client, id);
    if (entries.size > maxIds) entries.delete(shares.removeOldest());
  };

  const live = (id: string): Entry | undefined => {
    const entry = entries.get(id);
    return entry && entry.until > now() ? entry : undefined;
  };

  const sight = (id: string, claimMs: number, client: string): Sighting => {
    const known = live(id);
    if (known) return known.result ? { state: 'done', result: known.result } : { state: 'begun' };
    keep(id, { client, until: now() + claimMs });
    return { state: 'new' };
  };

  return {
    begin: async (ids, claimMs, client = '') => ids.map((id) => sight(id, claimMs, client)),
    finish: async (results, client = '') => {
      for (const result of results) {
        if (!isFinal(result) && live(result.id)?.result) continue;
        const owner = entries.get(result.id)?.client ?? client;
        const lifeMs = result.outcome === 'rejected' ? Math.min(maxAge, REFUSED_MS) : maxAge;
        keep(result.id, { client: owner, until: now() + lifeMs, result });
      }
    },
    forget: async (ids) => {
      ids.forEach(forget);
    },
  };
};

/**
 * Shares a bounded number of places among clients. When all are taken, the client that has the most loses its
 * oldest, so a client that floods only pushes out its own.
 */
export const createShares = () => {
  /** What each client has, the oldest first. */
  const shares = new Map<string, Set<string>>();
  /** Clients by the number of places they have. The last set is never empty. */
  const bySize: Set<string>[] = [];
  const cursors = new WeakMap<Set<string>, Iterator<string>>();

  /**
   * The first item of a set; the caller removes it. The iterator is kept, because a new one would step over
   * the places of all items that were removed before: a tenth of a millisecond with 100,000 of them.
   */
  const firstOf = (set: Set<string>): string => {
    const next = cursors.get(set)?.next();
    if (next && !next.done) return next.value;
    const cursor = set.values();
    cursors.set(set, cursor);
    return cursor.next().value!;
  };

  const resize = (client: string, from: number, to: number): void => {
    bySize[from]?.delete(client);
    if (to > 0) (bySize[to] ??= new Set()).add(client);
    else shares.delete(client);
    while (bySize.length > 0 && !bySize.at(-1)?.size) bySize.pop();
  };

  /** The item must belong to the client. */
  const remove = (client: string, item: string): void => {
    const share = shares.get(client)!;
    share.delete(item);
    resize(client, share.size + 1, share.size);
  };

  return {
    /** The item must not belong to any client yet. */
    add: (client: string, item: string): void => {
      const share = shares.get(client) ?? new Set();
      shares.set(client, share.add(item));
      resize(client, share.size - 1, share.size);
    },
    remove,
    /** Removes the oldest of what the client with the most has, and says what it was. */
    removeOldest: (): string => {
      const client = firstOf(bySize.at(-1)!);
      const item = firstOf(shares.get(client)!);
      remove(client, item);
      return item;
    },
  };
};
