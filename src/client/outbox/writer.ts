import type { Context } from './context.js';
import type { Ends } from './ends.js';
import type { OwnNote } from './own-note.js';
import type { Parcel } from './parcel.js';
import { putParcels } from './put-parcels.js';

/** Records that have come to their end wait this long to be deleted together. */
const DELETE_MS = 50;

interface Parts {
  note: OwnNote;
  ends: Ends;
}

/** Writes through to the database what has changed in memory, a task's changes in one transaction. */
export const createWriter = (context: Context, { note, ends }: Parts) => {
  const { journal, notes, holder } = context;
  const { dirty } = context.line;
  /** What each write that is under way writes. */
  const writing = new Set<readonly Parcel[]>();
  let scheduled: Promise<void> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const write = async (parcels: Parcel[], isLeaving = false): Promise<void> => {
    const life = holder();
    for (const parcel of parcels) dirty.delete(parcel);
    writing.add(parcels);
    const isStored = await putParcels(context, parcels, ends, isLeaving);
    writing.delete(parcels);
    // The page works from memory then: a note says what has changed. Once storage works again, all is written.
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
      return dirty.size > 0 ? write([...dirty]) : undefined;
    }));

  const flushSoon = (): void => {
    timer ??= setTimeout(flush, DELETE_MS);
  };

  return {
    /** It has to be written, with all else that changes in this task. Settles when that is done. */
    touch: (parcel: Parcel): Promise<void> | undefined => {
      if (parcel.state !== 'gone') dirty.add(parcel);
      if (journal.kind() !== 'memory') return flush();
      flushSoon();
      return undefined;
    },
    /** A record of it has come to its end: it is written with the next change, or a little later. */
    finished: (parcel: Parcel): void => {
      if (parcel.state !== 'gone') dirty.add(parcel);
      flushSoon();
    },
    flush,
    /** Lets parcels go, as the page does. */
    release: (parcels: Parcel[]): void => {
      if (parcels.length > 0) void write(parcels, true);
    },
    /** What the database does not know yet. */
    unconfirmed: (): Set<Parcel> => new Set([...dirty, ...[...writing].flat()]),
  };
};

export type Writer = ReturnType<typeof createWriter>;
