import type { Context } from './context.js';
import type { Ends } from './ends.js';
import type { OwnNote } from './own-note.js';
import type { Parcel } from './parcel.js';
import { putParcels } from './put-parcels.js';

/** Deletions wait this long for others, so that one transaction does them together. */
const DELETE_MS = 50;

/** Writes to the database what has changed in memory, the changes of one task in one transaction. */
export const createWriter = (context: Context, ends: Ends, note: OwnNote) => {
  const { journal, notes, holder } = context;
  const { dirty } = context.line;
  /** The parcels of each transaction that is under way. */
  const writing = new Set<readonly Parcel[]>();
  let scheduled: Promise<void> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const transact = async (parcels: Parcel[], isLeaving = false): Promise<void> => {
    const life = holder();
    for (const parcel of parcels) dirty.delete(parcel);
    writing.add(parcels);
    const isStored = await putParcels(context, parcels, ends, isLeaving);
    writing.delete(parcels);
    // The page works from memory now, and its note says what has changed. All is written once storage works again.
    if (!isStored) void flush();
    else if (life === holder() && dirty.size + writing.size === 0) notes.remove(life);
  };

  const flush = (): Promise<void> =>
    (scheduled ??= Promise.resolve().then(() => {
      scheduled = undefined;
      clearTimeout(timer);
      timer = undefined;
      // While the database fails, a note takes its place.
      if (journal.kind() === 'memory') return note.keep();
      return dirty.size > 0 ? transact([...dirty]) : undefined;
    }));

  const writeSoon = (parcel: Parcel): void => {
    if (parcel.state !== 'gone') dirty.add(parcel);
    timer ??= setTimeout(flush, DELETE_MS);
  };

  return {
    /** Writes a parcel, together with all others that change in this task. Settles when that is done. */
    write: (parcel: Parcel): Promise<void> | undefined => {
      writeSoon(parcel);
      return journal.kind() === 'memory' ? undefined : flush();
    },
    /** Writes a parcel with the next change, or 50 ms later. */
    writeSoon,
    flush,
    /** Writes the parcels of a page that leaves as held by nobody, so that any page may claim them. */
    writeAsLetGo: (parcels: Parcel[]): void => {
      if (parcels.length > 0) void transact(parcels, true);
    },
    /** The parcels that the database does not have in their latest form, as far as the page knows. */
    unconfirmed: (): Set<Parcel> => new Set([...dirty, ...[...writing].flat()]),
  };
};

export type Writer = ReturnType<typeof createWriter>;
