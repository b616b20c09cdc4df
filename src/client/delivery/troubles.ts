import type { Entry } from '../outbox/parcel.js';

/** What delivery knows of a record that has failed. */
export interface Trouble {
  /** Not to be tried before this time. */
  dueAt: number;
  /** Failures in a row. */
  failures: number;
  /** It has failed while others passed: what it does says nothing of the destination any more. */
  isSuspect: boolean;
  /** Deliveries of others counted when it failed last. */
  mark: number | undefined;
  /** It was in a request that failed because of what was in it: it goes without company. */
  isAlone: boolean;
}

const NONE: Readonly<Trouble> = {
  dueAt: 0,
  failures: 0,
  isSuspect: false,
  mark: undefined,
  isAlone: false,
};

/** Records that have failed, by their ids: one may be let go meanwhile, and claimed again. */
export const createTroubles = () => {
  const byId = new Map<string, Trouble>();

  const of = ({ record }: Entry): Trouble => {
    const trouble = byId.get(record.id) ?? { ...NONE };
    byId.set(record.id, trouble);
    return trouble;
  };

  return {
    /** As it stands, to be read. */
    see: ({ record }: Entry): Readonly<Trouble> => byId.get(record.id) ?? NONE,
    /** To be changed. */
    of,
    /**
     * They have failed in one request. Answers with the failures in a row of the one that has fewest, and with
     * whether all are suspects: others were delivered since they were last seen to fail, or were started.
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
    /** The next time at which one of them is due; nothing is put off for longer than `longestMs`. */
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
