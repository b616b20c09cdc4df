import type { BatchRecord, BatchResult } from '../../interface/wire.js';
import type { Tell } from '../hooks.js';
import { recordKeyOf } from '../queue/record-key.js';

/**
 * Lets a repeat share the result of the same record that is being sent by this process. All records of a
 * batch are registered before anything is awaited. So a record only waits for one that was registered before
 * it, and two can never wait for each other.
 */
export const createRunning = (tell: Tell) => {
  const running = new Map<string, Promise<BatchResult>>();

  return <Record extends BatchRecord>(
    records: readonly Record[],
    /** Starts the records that are not being sent yet. The promises it returns must not reject. */
    start: (fresh: readonly Record[]) => readonly Promise<BatchResult>[],
  ): Promise<BatchResult[]> => {
    const keys = records.map(recordKeyOf);
    const byKey = new Map<string, Record>();
    records.forEach((record, index) => {
      const key = keys[index]!;
      if (!running.has(key) && !byKey.has(key)) byKey.set(key, record);
    });
    const fresh = [...byKey.values()];
    const results = fresh.length ? start(fresh) : [];
    [...byKey.keys()].forEach((key, index) => {
      const result = results[index]!;
      running.set(key, result);
      void result.then(() => running.delete(key));
    });
    const repeats = records.length - fresh.length;
    if (repeats) tell.metric('seen_hits', repeats);
    return Promise.all(keys.map((key) => running.get(key)!));
  };
};
