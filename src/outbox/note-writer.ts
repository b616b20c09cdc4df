import { isSafe, leaseMs, type Context } from './context.js';
import { flightOf, type Hold } from './entry.js';

/** Changes of exit notes, where there is no database, wait this long for more of them. */
const TOGETHER_MS = 50;

/** This page's exit notes. */
export const createNoteWriter = (
  context: Context,
  /** What is done with, and not yet deleted. */
  doneOf: (hold: Hold) => number[],
) => {
  const { journal, notes, queue, holds } = context;
  let count = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** False where it could not be kept: an earlier note may stand yet. */
  const save = (hold: Hold, until: number, isGivingUp = false): boolean => {
    const entries = isGivingUp ? [] : queue.of(hold);
    const taken = isGivingUp ? queue.of(hold).filter(({ saved }) => saved === 'maybe') : [];
    const unstored = entries.filter(({ saved }) => saved !== 'yes');
    const isKept = notes.save({
      v: 1,
      owner: hold.owner,
      holder: hold.holder,
      until,
      stored: hold.leased || journal.kind() !== 'memory',
      flight: flightOf(hold),
      done: doneOf(hold),
      taken: taken.map(({ seq }) => seq),
      unsaved: unstored.map(({ seq, record, chunk }) => [seq, record, chunk?.first ?? seq]),
    });
    if (isKept) {
      hold.noted = ++count;
      for (const entry of unstored) entry.noted = true;
    }
    return isKept;
  };

  const keep = () => {
    timer = undefined;
    for (const hold of holds.values()) {
      const isStuck = hold.leased && flightOf(hold).length + doneOf(hold).length > 0;
      // One that may have been taken over is looked at first, by `renew`.
      if (!isStuck && !(hold.noted && isSafe(context, hold))) continue;
      save(hold, hold.until || context.now() + leaseMs(context)); // not 0: the page lives
    }
  };

  return {
    /** Says what is in flight and what is not stored, and when the lease ends. */
    save: (hold: Hold, until: number): boolean => save(hold, until),
    /** Says what was taken over, and gives the rest up to whoever can read it. */
    giveUp: (hold: Hold): void => void save(hold, hold.until, true),
    remove: (hold: Hold): void => {
      notes.remove(hold);
      hold.noted = 0;
    },
    /** Notes what is not noted yet. */
    begin: (): void => {
      for (const hold of holds.values()) {
        if (hold.noted || queue.of(hold).length === 0) continue;
        hold.until = context.now() + leaseMs(context);
        save(hold, hold.until);
      }
    },
    /** Without a database, a note already left is kept true, and what cannot be deleted is noted. */
    keep,
    keepSoon: (): void => {
      timer ??= setTimeout(keep, TOGETHER_MS);
    },
  };
};
