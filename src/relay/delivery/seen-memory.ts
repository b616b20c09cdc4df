import { callback, positive } from '../../interface/kinds.js';
import type { BatchResult } from '../../interface/wire.js';
import { checkOptions, count } from '../check-options.js';
import { isFinal } from '../queue/later.js';
import { REFUSED_MS, type Seen, type Sighting } from '../queue/ports.js';
import { createShares } from './shares.js';

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
