import { toJson } from '../record/to-json.js';
import { isSafe, leaseMs, type Context } from './context.js';
import { flightOf, type Entry, type Hold } from './entry.js';
import type { ExitNote } from './exit-note.js';

/** Changes of exit notes, where there is no database, wait this long for more of them. */
const TOGETHER_MS = 50;
/** And longer where a note is large: the largest is written anew about once a second. */
const CHARACTERS_PER_MS = 256;

/** Characters of a note's name. */
const SPARE = 500;

type Kept = ExitNote['unsaved'][number];

const keptOf = ({ seq, record, chunk }: Entry): Kept => [seq, record, chunk?.first ?? seq];

/** What a note has room for: requests under way and identifies first, and of the rest the newest. */
const choose = (entries: Entry[], room: number): Entry[] => {
  const isFirst = ({ state, record }: Entry) => state === 'flight' || record.type === 'identify';
  const newest = [...entries].reverse();
  let left = room;
  return [...newest.filter(isFirst), ...newest.filter((entry) => !isFirst(entry))].filter(
    (entry) => {
      if (entry.record.body.length > left) return false;
      const length = toJson(keptOf(entry))!.length + 1;
      if (length > left) return false;
      left -= length;
      return true;
    },
  );
};

/** This page's exit notes. */
export const createNoteWriter = (
  context: Context,
  /** What is done with, and not yet deleted. */
  doneOf: (hold: Hold) => number[],
) => {
  const { journal, notes, queue, holds } = context;
  let count = 0;
  /** About as many characters has the note that was written last. */
  let size = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** False where it could not be kept: an earlier note may stand yet. */
  const save = (hold: Hold, until: number, isGivingUp = false): boolean => {
    const entries = isGivingUp ? [] : queue.of(hold);
    const taken = isGivingUp ? queue.of(hold).filter(({ saved }) => saved === 'maybe') : [];
    const unstored = entries.filter(({ saved }) => saved !== 'yes');
    const note: ExitNote = {
      v: 1,
      owner: hold.owner,
      holder: hold.holder,
      until,
      stored: hold.leased || journal.kind() !== 'memory',
      flight: flightOf(hold),
      done: doneOf(hold),
      taken: taken.map(({ seq }) => seq),
      unsaved: [],
    };
    let chosen = choose(unstored, notes.room(hold) - toJson(note)!.length - SPARE);
    const saveChosen = () => {
      const isChosen = new Set(chosen);
      note.unsaved = unstored.filter((entry) => isChosen.has(entry)).map(keptOf);
      if (!notes.save(note)) return false;
      for (const entry of unstored) entry.noted = isChosen.has(entry);
      return true;
    };
    let isKept = saveChosen();
    // The site may have filled localStorage.
    while (!isKept && chosen.length > 0) {
      chosen = chosen.slice(0, chosen.length >> 1);
      isKept = saveChosen();
    }
    if (isKept) {
      hold.noted = ++count;
      size = chosen.reduce((sum, { record }) => sum + record.body.length, 0);
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
      timer ??= setTimeout(keep, TOGETHER_MS + size / CHARACTERS_PER_MS);
    },
  };
};
