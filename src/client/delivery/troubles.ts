import type { Entry } from '../outbox/parcel.js';

/** What delivery knows of a record that has failed. */
export interface Trouble {
  /** The record is not tried before this time. */
  dueAt: number;
  /** The number of its failures in a row. */
  failures: number;
  /** It has failed while others passed, so its failures say nothing of the destination any more. */
  isSuspect: boolean;
  /** The count of records that had passed when it failed last. */
  mark: number | undefined;
  /** It was in a request that failed because of one of its records, so it goes alone. */
  isAlone: boolean;
}

const NONE: Readonly<Trouble> = {
  dueAt: 0,
  failures: 0,
  isSuspect: false,
  mark: undefined,
  isAlone: false,
};

/** Knows the records that have failed by their ids, since one may be let go meanwhile, and claimed again. */
export const createTroubles = () => {
  const byId = new Map<string, Trouble>();

  const of = ({ record }: Entry): Trouble => {
    const trouble = byId.get(record.id) ?? { ...NONE };
    byId.set(record.id, trouble);
    return trouble;
  };

  return {
    /** How a record has failed so far. The caller only reads it. */
    see: ({ record }: Entry): Readonly<Trouble> => byId.get(record.id) ?? NONE,
    /** The same, kept from now on: the caller may change it. */
    of,
    /**
     * Counts a failure of one request. `before` and `passes` count the records that had passed when it was started, and
     * those that have passed by now. Returns the fewest failures of any of its records, and whether all of them are
     * suspects: others have passed since they failed last, or since they were started.
     */
    fail: (entries: readonly Entry[], before: number, passes: number): [number, boolean] => {
      const known = entries.map(of);
      for (const trouble of known) {
        trouble.isSuspect ||= passes > (trouble.mark ?? before);
        trouble.mark = passes;
        trouble.failures++;
      }
      const least = Math.min(...known.map(({ failures }) => failures));
      return [least, known.every(({ isSuspect }) => isSuspect)];
    },
    putOff: (entries: readonly Entry[], dueAt: number): void => {
      for (const entry of entries) of(entry).dueAt = dueAt;
    },
    forget: ({ record }: Entry): void => void byId.delete(record.id),
    /** The next time at which a record becomes due. No record is put off for longer than `longestMs`. */
    nextDue: (time: number, longestMs: number): number => {
      let next = Infinity;
      for (const trouble of byId.values()) {
        if (trouble.dueAt - time > longestMs) trouble.dueAt = 0; // the clock was set back
        if (trouble.dueAt > time) next = Math.min(next, trouble.dueAt);
      }
      return next;
    },
  };
};

export type Troubles = ReturnType<typeof createTroubles>;
