import { CAP_MS, waitInTrouble } from '../../interface/backoff.js';

/** A sender is slow once one of its records has had a place for this long, until another one takes less. */
const SLOW_MS = 1_000;
/** How many slow senders are remembered, and how many failing ones. */
const MAX_KNOWN = 10_000;
/** A failing sender is forgotten after this long. A record that fails is tried again within `CAP_MS`. */
const FORGET_MS = 2 * CAP_MS;

/** The turn of all records that have failed before, whoever sent them: each may take long to fail again. */
export const AGAIN = ' again';
/** Their share of all places. */
const AGAIN_SHARE = 1 / 4;

interface Options {
  /** How many places there are, given how many are taken. */
  places: (taken: number) => number;
  /** The clock for waits. */
  ticks: () => number;
}

interface Waiting {
  decide: (isStarted: boolean) => void;
  mayRefuse: boolean;
}

/**
 * Decides whose record gets the next place, so that no sender stops the others:
 *
 * - Senders take turns, and the records of a sender start in order.
 * - Of the places that the others leave, a sender has half at most, a slow sender a quarter, and a failing sender one.
 *   As long as a place is free, each sender gets its first.
 * - Records that have failed before share a quarter of all places.
 * - When a record fails for the first time, its sender waits for about half the time for which it has been failing.
 * - A slow sender has no more records waiting here than it may have places. If its next record is a row of a store, it is
 *   refused, and the store keeps it until later, so that the rows behind it can go on.
 */
export const createTurns = ({ places, ticks }: Options) => {
  /** When each place was taken, the oldest first, by turn. */
  const taken = new Map<string, Set<{ at: number }>>();
  let takenInAll = 0;
  /** Waiting records by turn. The next turn comes first. */
  const waiting = new Map<string, Waiting[]>();
  const slow = new Set<string>();
  /** Senders whose records have failed, while none has passed since. */
  const failing = new Map<string, { since: number; until: number }>();
  let alarm: ReturnType<typeof setTimeout> | undefined;

  const countOf = (turn: string): number => taken.get(turn)?.size ?? 0;

  const isSlow = (turn: string): boolean => {
    const [oldest] = taken.get(turn) ?? [];
    return slow.has(turn) || (!!oldest && ticks() - oldest.at > SLOW_MS);
  };

  /** A turn that has fewer places than this may get one more. */
  const shareOf = (turn: string): number => {
    const all = places(takenInAll);
    if (takenInAll >= all) return 0;
    if (turn === AGAIN) return all * AGAIN_SHARE;
    if (failing.has(turn)) return 1;
    return (all - takenInAll + countOf(turn)) / (isSlow(turn) ? 4 : 2);
  };

  const startNext = (): boolean => {
    for (const [turn, records] of waiting) {
      if (countOf(turn) >= shareOf(turn)) continue;
      const next = records.shift()!;
      waiting.delete(turn);
      if (records.length) waiting.set(turn, records);
      next.decide(true);
      return true;
    }
    return false;
  };

  /** Refuses records that a slow sender has too many of. Returns whether more may have to be refused later. */
  const refuseExcess = (turn: string): boolean => {
    const records = waiting.get(turn) ?? [];
    const most = turn === AGAIN || !isSlow(turn) ? Infinity : Math.max(1, shareOf(turn));
    while (records.at(-1)?.mayRefuse && countOf(turn) + records.length > most)
      records.pop()!.decide(false);
    if (!records.length) waiting.delete(turn);
    return records.some(({ mayRefuse }) => mayRefuse);
  };

  /** Checks now and then whether a sender has become slow while its records wait. */
  const watch = (): void => {
    alarm ??= setTimeout(() => {
      alarm = undefined;
      if ([...waiting.keys()].filter(refuseExcess).length) watch();
    }, SLOW_MS / 4);
  };

  /** Waits for a place. Resolves with undefined if the record is refused. */
  const enter = (turn: string, mayRefuse: boolean) =>
    new Promise<{ at: number } | undefined>((resolve) => {
      const decide = (isStarted: boolean): void => {
        if (!isStarted) return resolve(undefined);
        const place = { at: ticks() };
        taken.set(turn, (taken.get(turn) ?? new Set()).add(place));
        takenInAll++;
        resolve(place);
      };
      const records = waiting.get(turn) ?? [];
      records.push({ decide, mayRefuse });
      waiting.set(turn, records);
      while (startNext());
      if (refuseExcess(turn)) watch();
    });

  /** The work in a place is over, but the place may be kept. */
  const end = (turn: string, place: { at: number }): void => {
    slow.delete(turn);
    if (turn !== AGAIN && ticks() - place.at > SLOW_MS) slow.add(turn);
    dropOldest(slow);
    const own = taken.get(turn)!;
    own.delete(place);
    place.at = Infinity; // it makes its sender no slower
    own.add(place);
  };

  const leave = (turn: string, place: { at: number }): void => {
    const own = taken.get(turn)!;
    own.delete(place);
    if (!own.size) taken.delete(turn);
    takenInAll--;
    while (startNext());
  };

  return {
    /**
     * Does the work once its turn has come. Resolves with undefined if it was refused, which only `mayRefuse` allows. The
     * place is kept until `settled`.
     */
    run: async <Result>(
      turn: string,
      work: () => Promise<Result>,
      { mayRefuse = false, settled }: { mayRefuse?: boolean; settled?: Promise<void> } = {},
    ): Promise<Result | undefined> => {
      const place = await enter(turn, mayRefuse);
      if (!place) return undefined;
      try {
        return await work();
      } finally {
        end(turn, place);
        if (settled) void settled.then(() => leave(turn, place));
        else leave(turn, place);
      }
    },
    /** Milliseconds until records of this sender may go. */
    waitMs: (sender: string): number => Math.max(0, (failing.get(sender)?.until ?? 0) - ticks()),
    /** A record of this sender has failed for the first time. */
    failed: (sender: string): void => {
      const time = ticks();
      const before = failing.get(sender);
      const own = before && time - before.until < FORGET_MS ? before : { since: time, until: 0 };
      if (own.until <= time) own.until = time + waitInTrouble(time - own.since, Math.random());
      failing.delete(sender);
      failing.set(sender, own);
      dropOldest(failing);
    },
    /** A record of this sender has passed. */
    passed: (sender: string): void => void failing.delete(sender),
    /** Ends the waits of all senders. */
    tryNow: (): void => {
      for (const one of failing.values()) one.until = 0;
    },
  };
};

const dropOldest = (known: Map<string, unknown> | Set<string>): void => {
  if (known.size > MAX_KNOWN) known.delete(known.keys().next().value!);
};
