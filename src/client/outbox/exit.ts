import { toJson } from '../record/to-json.js';
import type { DropReason } from '../types.js';
import { HOLD_MS, holdMs, LONGEST_HOLD_MS, type Context } from './context.js';
import type { NotedParcel } from './exit-note.js';
import { inState, type Entry, type Parcel } from './parcel.js';
import type { Writer } from './writer.js';

/** Characters that a record in a note may need beside itself. */
const SPARE = 100;

/** So long nobody else takes what a living page without a database has noted. */
const NOTED_MS = LONGEST_HOLD_MS - HOLD_MS;

interface Parts {
  writer: Writer;
  part: (parcel: Parcel) => void;
  drop: (entry: Entry, reason: DropReason, message: string) => void;
}

const isStored = ({ state }: Parcel): boolean => state === 'stored';
const waitingIn = (parcel: Parcel): Entry[] => inState(parcel, 'waiting');

/** What this page leaves to whoever comes next: exit notes, and parcels that it lets go. */
export const createExit = (context: Context, { writer, part, drop }: Parts) => {
  const { journal, notes, now, limits, isHidden, line, holder } = context;
  /** What notes say of parcels that were let go while the database failed. */
  const remains = new Map<string, NotedParcel>();

  /** Of what only memory has, what a note of so many characters takes: identifies first, then the newest. */
  const fitting = (parcels: Parcel[], size: number): Set<Entry> => {
    const entries = parcels
      .filter((parcel) => !isStored(parcel))
      .flatMap((parcel) => [...parcel.entries])
      .reverse();
    const isIdentify = ({ record }: Entry) => Number(record.type === 'identify');
    const chosen = new Set<Entry>();
    for (const entry of entries.sort((a, b) => isIdentify(b) - isIdentify(a))) {
      size -= toJson(entry.record)!.length + SPARE;
      if (size < 0) break;
      chosen.add(entry);
    }
    return chosen;
  };

  const noteOf = (parcel: Parcel, records: ReadonlySet<Entry>): NotedParcel => ({
    key: parcel.key,
    flight: limits().resends ? [] : inState(parcel, 'flight').map(({ record }) => record.id),
    done: [...parcel.done],
    records: [...parcel.entries].filter((entry) => records.has(entry)).map(({ record }) => record),
    isNew: parcel.state === 'new' && journal.kind() === 'memory',
  });

  /**
   * Without a database: what has become of the records that stand in it and, while the page is hidden, the
   * records that only memory has.
   */
  const keepNote = (): void => {
    if (journal.isLeft()) return;
    const parcels = line.parcels.filter(({ state }) => state !== 'new' || isHidden());
    if (parcels.length + remains.size === 0) return notes.remove(holder());
    saveNote(parcels, now() + NOTED_MS, isHidden() ? notes.room(holder()) : 0);
  };

  /** Writes the exit note; less of it where localStorage is nearly full. Answers with the records in it. */
  const saveNote = (
    parcels: Parcel[],
    until: number,
    most = notes.room(holder()),
  ): Set<Entry> | undefined => {
    // A page may be told more than once that it goes.
    const earlier = journal.isLeft() ? (notes.get(holder())?.parcels ?? []) : [];
    for (let size = most; ; size /= 2) {
      const records = fitting(parcels, size);
      const told = [
        ...earlier,
        ...remains.values(),
        ...parcels.map((parcel) => noteOf(parcel, records)),
      ];
      if (notes.save({ holder: holder(), until, parcels: told })) return records;
      if (records.size === 0) return undefined;
    }
  };

  /** Without a database, the page's end is the end of what its note did not take. */
  const dropRest = (parcels: Parcel[], noted: ReadonlySet<Entry>) => {
    for (const entry of parcels.filter((parcel) => !isStored(parcel)).flatMap(waitingIn)) {
      if (noted.has(entry)) continue;
      drop(entry, 'outbox-full', 'there is no database, and no more room in localStorage');
    }
  };

  const go = (): void => {
    const parcels = [...line.parcels];
    if (parcels.length + remains.size === 0) {
      // Told a second time, it has let all go the first time.
      if (!journal.isLeft()) notes.remove(holder());
      return;
    }
    const noted = saveNote(parcels, 0);
    // Opened too late, the database would get what others have taken from the note by then.
    if (journal.kind() === 'indexeddb') writer.release(parcels);
    else if (!noted)
      return; // nothing takes it: the page may come back
    else dropRest(parcels, noted);
    parcels.forEach(part);
  };

  /** The page is hidden, and may be going. */
  const hide = (): void => {
    if (journal.kind() === 'memory') return keepNote();
    const parcels = [...writer.unconfirmed()];
    if (parcels.length === 0) return;
    saveNote(parcels, now() + holdMs(context));
    void writer.flush();
  };

  return {
    keepNote,
    /** It is let go while the database fails: whoever claims it has to know what has come to its end. */
    noteRemains: (parcel: Parcel): void => {
      if (journal.kind() !== 'memory' || parcel.state === 'new' || !parcel.done.size) return;
      remains.set(`${parcel.key}`, noteOf(parcel, new Set()));
    },
    /** Writes down what a page that may not come back leaves; with `isGoing`, lets it go. */
    leave: (isGoing: boolean): void => {
      if (!isGoing) return hide();
      go();
      journal.leave();
    },
  };
};
