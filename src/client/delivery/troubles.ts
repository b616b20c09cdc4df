import { CAP_MS, waitAfter } from '../../interface/backoff.js';
import type { Entry } from '../outbox/parcel.js';

/**
 * When records that have failed are due again, by their ids, since one may be let go meanwhile, and claimed again.
 * Since when a record has failed is kept with it.
 */
export const createTroubles = (now: () => number, random: () => number) => {
  const due = new Map<string, number>();

  const isDue = ({ record }: Entry): boolean => {
    const wait = (due.get(record.id) ?? 0) - now();
    return wait <= 0 || wait > CAP_MS; // so long after the clock was set back
  };

  return {
    isDue,
    /** Called when these records have failed in one request. They are due together again, if they failed together. */
    fail: (entries: readonly Entry[]): void => {
      const time = now();
      const draw = random();
      for (const { record } of entries) {
        record.failedSince ??= time;
        due.set(record.id, time + waitAfter(time - record.failedSince, 0, () => draw));
      }
    },
    forget: ({ record }: Entry): void => void due.delete(record.id),
    /** Called when something has changed here: all may be tried again. */
    clear: (): void => due.clear(),
    /** The next time at which a record becomes due. */
    nextDue: (time: number): number =>
      Math.min(Infinity, ...[...due.values()].filter((at) => at > time && at - time <= CAP_MS)),
  };
};

export type Troubles = ReturnType<typeof createTroubles>;
