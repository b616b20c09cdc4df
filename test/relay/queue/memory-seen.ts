import { REFUSED_MS, type Seen, type Sighting } from '../../../src/relay/queue/ports.js';
import type { BatchResult } from '../../../src/interface/wire.js';

/** What a `Seen` is, without limits: the reference the others are held against. */
export const createMemorySeen = (now: () => number = Date.now): Seen => {
  const results = new Map<string, BatchResult>();
  const refused = new Map<string, number>();
  const claims = new Map<string, number>();
  return {
    begin: async (ids, claimMs) =>
      ids.map((id): Sighting => {
        if (now() - (refused.get(id) ?? now()) > REFUSED_MS) results.delete(id);
        const result = results.get(id);
        if (result) return { state: 'done', result };
        if ((claims.get(id) ?? 0) > now()) return { state: 'begun' };
        claims.set(id, now() + claimMs);
        return { state: 'new' };
      }),
    finish: async (done) => {
      for (const result of done) {
        if (result.outcome !== 'accepted' || !results.has(result.id))
          results.set(result.id, result);
        if (result.outcome === 'rejected') refused.set(result.id, now());
      }
    },
    forget: async (ids) => ids.forEach((id) => claims.delete(id)),
  };
};
