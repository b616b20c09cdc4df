import { HOLD_MS, holdMs, LONGEST_HOLD_MS, type Context } from './context.js';
import type { Ends } from './ends.js';
import { createOwnNote, inMemoryOnly } from './own-note.js';
import type { Entry, Parcel } from './parcel.js';
import type { Writer } from './writer.js';

/** So long nobody else takes what a living page without a database has noted. */
const NOTED_MS = LONGEST_HOLD_MS - HOLD_MS;

interface Parts {
  writer: Writer;
  ends: Pick<Ends, 'letGo' | 'drop'>;
}

/** What this page leaves to whoever comes next: exit notes, and parcels that it lets go. */
export const createExit = (context: Context, { writer, ends }: Parts) => {
  const { journal, now, isHidden, line } = context;
  const note = createOwnNote(context);

  /**
   * Without a database: what has become of the records that stand in it and, while the page is hidden, the
   * records that only memory has.
   */
  const keepNote = (): void => {
    if (journal.isLeft()) return;
    const parcels = line.parcels.filter(({ state }) => state !== 'new' || isHidden());
    note.save(parcels, now() + NOTED_MS, isHidden() ? note.room() : 0);
  };

  /** Without a database, the page's end is the end of what its note did not take. */
  const dropRest = (parcels: Parcel[], noted: ReadonlySet<Entry>) => {
    for (const entry of inMemoryOnly(parcels)) {
      if (entry.state !== 'waiting' || noted.has(entry)) continue;
      ends.drop(entry, 'outbox-full', 'there is no database, and no more room in localStorage');
    }
  };

  const go = (): void => {
    const parcels = [...line.parcels];
    const noted = note.save(parcels, 0);
    // Opened too late, the database would get what others have taken from the note by then.
    if (journal.kind() === 'indexeddb') writer.release(parcels);
    else if (!noted)
      return; // nothing takes it: the page may come back
    else dropRest(parcels, noted);
    parcels.forEach(ends.letGo);
  };

  /** The page is hidden, and may be going. */
  const hide = (): void => {
    if (journal.kind() === 'memory') return keepNote();
    const parcels = [...writer.unconfirmed()];
    if (parcels.length === 0) return;
    note.save(parcels, now() + holdMs(context));
    void writer.flush();
  };

  return {
    keepNote,
    /** Writes down what a page that may not come back leaves; with `isGoing`, lets it go. */
    leave: (isGoing: boolean): void => {
      if (!isGoing) return hide();
      go();
      journal.leave();
    },
  };
};
