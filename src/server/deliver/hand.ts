import { inTime } from '../../util/in-time.js';
import { createTellDropped, type Tell } from '../hooks.js';
import { keyOf } from '../incoming.js';
import type { GivenBack, Queue, QueuedRecord, Taken } from '../queue/ports.js';
import { sleep } from '../time.js';
import type { Fate } from './targets.js';

/** A record that became a dead letter. */
export interface Undelivered {
  record: QueuedRecord;
  /** `rejected`: the service refused it. `expired`: it was older than `maxAge`. */
  reason: 'rejected' | 'expired';
  /** HTTP status of the last answer; 0 if there was none. */
  status: number;
}

/** Pause before a failed call to the queue is repeated. */
const AGAIN_MS = 500;
/** A queue has at least this long to answer. */
const LEAST_MS = 1_000;

interface Effects {
  queue: Pick<Queue, 'done' | 'giveBack' | 'bury'>;
  onUndelivered: ((undelivered: Undelivered) => void) | undefined;
  /** Called with each error of the queue. */
  queueFailed: (error: unknown) => void;
  /** Called when records have left the hand. */
  left: () => void;
  isStopping: () => boolean;
  tell: Tell;
  now: () => number;
  /** The clock for waits. */
  ticks: () => number;
}

/**
 * Records that a consumer has in hand: from when it takes them until the queue knows what became of them, however long the
 * queue is away. If the queue gives one of them again meanwhile, it is not delivered a second time.
 */
export const createHand = (effects: Effects) => {
  const { queue, onUndelivered, queueFailed, left, isStopping, tell, now, ticks } = effects;
  const tellDropped = createTellDropped(tell, now);
  /** The records with their newest receipts. */
  const inHand = new Map<string, Taken>();

  /** Repeats a call to the queue until it succeeds. Returns false if it was given up. */
  const untilDone = async (work: () => Promise<void>, ownUntil: number): Promise<boolean> => {
    for (;;) {
      try {
        await inTime(work(), Math.max(LEAST_MS, ownUntil - ticks()));
        return true;
      } catch (error) {
        queueFailed(error);
        if (isStopping() && ticks() >= ownUntil) return false;
        await sleep(AGAIN_MS);
      }
    }
  };

  const bury = async (
    taken: Taken,
    { reason, status }: Extract<Fate, { fate: 'dead' }>,
    ownUntil: number,
  ): Promise<void> => {
    const words = status ? `${reason} ${status}` : reason;
    const work = async () => tellDropped(await queue.bury(taken, words));
    if (!(await untilDone(work, ownUntil))) return;
    const { record } = taken;
    tell.call('onUndelivered', () => onUndelivered?.({ record, reason, status }));
  };

  /** Passes the results of records to the queue. */
  const settle = async (fates: ReadonlyMap<string, Fate>, ownUntil: number): Promise<void> => {
    const done: Taken[] = [];
    const back: GivenBack[] = [];
    const settling: Promise<unknown>[] = [];
    for (const [key, fate] of fates) {
      const taken = inHand.get(key)!;
      if (fate.fate === 'done') done.push(taken);
      else if (fate.fate === 'dead') settling.push(bury(taken, fate, ownUntil));
      else {
        back.push({ taken, delayMs: fate.delayMs, isTried: fate.isTried });
        inHand.delete(key); // the queue may give it again at once, and then it has to be delivered
      }
    }
    if (done.length) settling.push(untilDone(() => queue.done(done), ownUntil));
    if (back.length) settling.push(untilDone(() => queue.giveBack(back), ownUntil));
    await Promise.all(settling);
  };

  return {
    size: (): number => inHand.size,
    /** How many of them have failed before. */
    failed: (): number => [...inHand.values()].filter(({ attempts }) => attempts > 1).length,
    /**
     * Takes records in hand, has them delivered unless they were in hand already, and passes the results to the queue.
     * `settled` has a promise for each record, which settles once the queue knows the result.
     * @param ownUntil the time until which nobody else gets the records, by `ticks`
     */
    deliver: async (
      taken: readonly Taken[],
      ownUntil: number,
      deliver: (
        taken: readonly Taken[],
        settled: readonly Promise<void>[],
      ) => readonly Promise<Fate>[],
    ): Promise<void> => {
      const going = taken.filter(({ record }) => !inHand.has(keyOf(record)));
      for (const one of taken) inHand.set(keyOf(one.record), one);
      const keys = going.map(({ record }) => keyOf(record));
      const unsettled = new Set(keys);
      /** The functions that settle the promises in `settled`. */
      const settles = new Map<string, () => void>();
      const settled = keys.map((key) => new Promise<void>((resolve) => settles.set(key, resolve)));
      let ended = new Map<string, Fate>();
      let wake = (): void => {};
      const release = (fates: ReadonlyMap<string, Fate | undefined>): void => {
        for (const [key, fate] of fates) {
          unsettled.delete(key);
          if (fate?.fate !== 'back') inHand.delete(key);
          settles.get(key)!();
        }
        left();
      };
      try {
        const all = Promise.all(
          deliver(going, settled).map(async (promise, index) => {
            const fate = await promise;
            ended.set(keys[index]!, fate);
            wake();
          }),
        );
        while (unsettled.size > 0) {
          if (!ended.size)
            await Promise.race([all, new Promise<void>((resolve) => (wake = resolve))]);
          const fates = ended;
          ended = new Map();
          await settle(fates, ownUntil);
          release(fates);
        }
      } finally {
        release(new Map([...unsettled].map((key) => [key, undefined])));
      }
    },
  };
};
