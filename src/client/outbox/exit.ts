import { holdMs, type Context } from './context.js';
import type { Ends } from './ends.js';
import { inMemoryOnly, type OwnNote } from './own-note.js';
import type { Entry, Parcel } from './parcel.js';
import type { Writer } from './writer.js';

/** What a page does as it is hidden or left: it writes an exit note, and lets its parcels go. */
export const createExit = (context: Context, ends: Ends, writer: Writer, note: OwnNote) => {
  const { journal, now, line } = context;

  /** Drops the records that have no place: there is no database, and no room in the note. */
  const dropRest = (parcels: Parcel[], noted: ReadonlySet<Entry>) => {
    for (const entry of inMemoryOnly(parcels)) {
      if (entry.state !== 'waiting' || noted.has(entry)) continue;
      ends.drop(entry, 'outbox-full', 'there is no database, and no more room in localStorage');
    }
  };

  /** The page leaves: it notes all its parcels and lets them go. */
  const go = (): void => {
    const parcels = [...line.parcels];
    const noted = note.save(parcels, 0);
    // A database that is opened too late would get what others have taken from the note by then.
    const isStored = journal.kind() === 'indexeddb';
    if (isStored) writer.writeAsLetGo(parcels);
    else if (noted) dropRest(parcels, noted);
    // If neither store takes the records, they stay in memory: the page may come back.
    if (isStored || noted) parcels.forEach(ends.letGo);
    journal.leave();
  };

  /** The page is hidden, and may be going: it notes what is not stored yet. */
  const hide = (): void => {
    if (journal.kind() === 'memory') return note.keep();
    const parcels = [...writer.unconfirmed()];
    if (parcels.length === 0) return;
    note.save(parcels, now() + holdMs(context));
    void writer.flush();
  };

  return { go, hide };
};
