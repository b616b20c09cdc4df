import type { BatchResult } from '../wire.js';
import { isFinal } from './later.js';
import type { Seen, Sighting } from './ports.js';

export interface SeenMemoryOptions {
  /** Ids kept at the most; the oldest go first. About 200 bytes each. @default 100000 */
  maxIds?: number | undefined;
  /** Milliseconds an id is kept. @default 86400000 (a day) */
  maxAge?: number | undefined;
  /** In place of `Date.now`. */
  now?: (() => number) | undefined;
}

interface Entry {
  /** When the claim or the memory of it ends. */
  until: number;
  result?: BatchResult;
}

/** The ids that this process has passed on. Another process knows nothing of them, nor does the next. */
export const createSeenMemory = (options: SeenMemoryOptions = {}): Seen => {
  const { maxIds = 100_000, maxAge = 86_400_000, now = Date.now } = options;
  /** In the order of their last write, so that the first is the oldest. */
  const entries = new Map<string, Entry>();

  const keep = (id: string, entry: Entry): void => {
    entries.delete(id);
    entries.set(id, entry);
    if (entries.size > maxIds) entries.delete(entries.keys().next().value!);
  };

  const live = (id: string): Entry | undefined => {
    const entry = entries.get(id);
    return entry && entry.until > now() ? entry : undefined;
  };

  const sight = (id: string, claimMs: number): Sighting => {
    const known = live(id);
    if (known) return known.result ? { state: 'done', result: known.result } : { state: 'begun' };
    keep(id, { until: now() + claimMs });
    return { state: 'new' };
  };

  return {
    begin: async (ids, claimMs) => ids.map((id) => sight(id, claimMs)),
    finish: async (results) => {
      for (const result of results) {
        if (!isFinal(result) && live(result.id)?.result) continue;
        keep(result.id, { until: now() + maxAge, result });
      }
    },
    forget: async (ids) => {
      for (const id of ids) entries.delete(id);
    },
  };
};
