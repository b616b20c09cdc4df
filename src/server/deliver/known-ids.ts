import type { BatchResult } from '../../interface/wire.js';

/** How many ids are remembered, about 500 bytes each. Beyond that the sender with the most loses its oldest. */
const MAX_IDS = 100_000;
const LIFE_MS = 86_400_000;

interface Entry {
  sender: string;
  until: number;
  result: BatchResult;
}

/**
 * Remembers what the service has decided about the records that this process has sent, so that a repeat gets the same
 * answer and is not sent again. Other processes do not know these ids, and a restart forgets them. A sender with a
 * flood of ids pushes out only its own.
 */
export const createKnownIds = (now: () => number, maxIds = MAX_IDS) => {
  const entries = new Map<string, Entry>();
  /** The keys of each sender, the oldest first. */
  const keysOf = new Map<string, Set<string>>();
  /** Senders by how many keys they have. The last set is never empty. */
  const bySize: Set<string>[] = [];

  /** Notes how many keys a sender has, after it got one more or one fewer. */
  const resize = (sender: string, from: number, to: number): void => {
    bySize[from]?.delete(sender);
    if (to > 0) (bySize[to] ??= new Set()).add(sender);
    else keysOf.delete(sender);
    while (bySize.length > 0 && !bySize.at(-1)?.size) bySize.pop();
  };

  const forget = (key: string): void => {
    const entry = entries.get(key);
    if (!entry) return;
    entries.delete(key);
    const own = keysOf.get(entry.sender)!;
    own.delete(key);
    resize(entry.sender, own.size + 1, own.size);
  };

  return {
    find: (key: string): BatchResult | undefined => {
      const entry = entries.get(key);
      return entry && entry.until > now() ? entry.result : undefined;
    },
    keep: (key: string, sender: string, result: BatchResult): void => {
      forget(key); // so that it becomes the newest of its sender
      entries.set(key, { sender, until: now() + LIFE_MS, result });
      const own = keysOf.get(sender) ?? new Set();
      keysOf.set(sender, own.add(key));
      resize(sender, own.size - 1, own.size);
      if (entries.size > maxIds) forget(firstOf(keysOf.get(firstOf(bySize.at(-1)!))!));
    },
  };
};

const cursors = new WeakMap<Set<string>, Iterator<string>>();
/**
 * The first item of a set; the caller removes it. The iterator is kept, because a new one would step over the places of
 * all items that were removed before: a tenth of a millisecond with 100,000 of them.
 */
const firstOf = (set: Set<string>): string => {
  const next = cursors.get(set)?.next();
  if (next && !next.done) return next.value;
  const cursor = set.values();
  cursors.set(set, cursor);
  return cursor.next().value!;
};
