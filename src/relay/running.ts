import type { BatchRecord, BatchResult } from '../wire.js';
import type { Tell } from './hooks.js';

/**
 * What is under way in this process, by record id: a repeat gets what the first comes to. All of a batch
 * stand here before anything is awaited, so waits only point back and cannot go in a circle.
 */
export const createRunning = (tell: Tell) => {
  const running = new Map<string, Promise<BatchResult>>();

  return (
    records: readonly BatchRecord[],
    /** Starts those that are not under way; what it returns must not reject. */
    start: (fresh: readonly BatchRecord[]) => readonly Promise<BatchResult>[],
  ): Promise<BatchResult[]> => {
    const byId = new Map<string, BatchRecord>();
    for (const record of records) {
      if (!running.has(record.id) && !byId.has(record.id)) byId.set(record.id, record);
    }
    const fresh = [...byId.values()];
    const results = fresh.length ? start(fresh) : [];
    results.forEach((result, index) => {
      const { id } = fresh[index]!;
      running.set(id, result);
      void result.then(() => running.delete(id));
    });
    const repeats = records.length - fresh.length;
    if (repeats) tell.metric('seen_hits', repeats);
    return Promise.all(records.map(({ id }) => running.get(id)!));
  };
};
