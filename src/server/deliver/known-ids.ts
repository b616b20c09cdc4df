import type { BatchResult } from '../../interface/wire.js';

/** Ids remembered at the most, about 500 bytes each. Beyond them the sender that has the most loses its oldest. */
const MAX_IDS = 100_000;
const LIFE_MS = 86_400_000;
/** A refused record that comes again is refused again, so its id is not kept for long. */
const REFUSED_MS = 3_600_000;

interface Entry {
  sender: string;
  until: number;
  result: BatchResult;
}

/**
 * The records that this process has sent, and what the service has decided of them, so that a repeat gets the same answer
 * and is not sent again. Other processes do not know them, and after a restart they are gone.
 */
export const createKnownIds = (now: () => number, maxIds = MAX_IDS) => {
  const entries = new Map<string, Entry>();
  const shares = createShares();

  const forget = (key: string): void => {
    const entry = entries.get(key);
    if (!entry) return;
    entries.delete(key);
    shares.remove(entry.sender, key);
  };

  return {
    find: (key: string): BatchResult | undefined => {
      const entry = entries.get(key);
      return entry && entry.until > now() ? entry.result : undefined;
    },
    keep: (key: string, sender: string, result: BatchResult): void => {
      forget(key); // it is the newest of its sender from now on
      const lifeMs = result.outcome === 'rejected' ? REFUSED_MS : LIFE_MS;
      entries.set(key, { sender, until: now() + lifeMs, result });
      shares.add(sender, key);
      if (entries.size > maxIds) entries.delete(shares.removeOldest());
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
