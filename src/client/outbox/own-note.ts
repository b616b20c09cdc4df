import { toJson } from '../record/to-json.js';
import { flightOf, HOLD_MS, LONGEST_HOLD_MS, type Context } from './context.js';
import type { NotedParcel } from './exit-note.js';
import type { Entry, Parcel } from './parcel.js';

/** For this long no other page takes what a living page without a database has noted. */
const NOTED_MS = LONGEST_HOLD_MS - HOLD_MS;

/** Characters that a note may need for a record, beside the record itself. */
const SPARE = 100;

/** The records that fit into a note of so many characters: identifies first, then the newest. */
const fitting = (entries: Entry[], size: number): Set<Entry> => {
  const isIdentify = ({ record }: Entry) => Number(record.type === 'identify');
  const chosen = new Set<Entry>();
  for (const entry of entries.reverse().sort((a, b) => isIdentify(b) - isIdentify(a))) {
    size -= toJson(entry.record)!.length + SPARE;
    if (size < 0) break;
    chosen.add(entry);
  }
  return chosen;
};

/** The records that are not known to be stored. */
export const inMemoryOnly = (parcels: readonly Parcel[]): Entry[] =>
  parcels.filter(({ state }) => state !== 'stored').flatMap(({ entries }) => [...entries]);

/** This page's own exit note. */
export const createOwnNote = (context: Context) => {
  const { journal, notes, line, former, holder, now, isHidden } = context;
  const inMemory = () => journal.kind() === 'memory';

  const noteOf = (parcel: Parcel, records?: ReadonlySet<Entry>): NotedParcel => ({
    key: parcel.key,
    flight: flightOf(context, parcel),
    done: [...parcel.done],
    records: [...parcel.entries].filter((entry) => records?.has(entry)).map(({ record }) => record),
    isNew: parcel.state === 'new' && inMemory(),
  });

  /** Parcels that were let go while the database fails: their next holder has to know which records have ended. */
  const notedLetGo = (): NotedParcel[] => {
    if (!inMemory()) return [];
    return [...former.values()]
      .filter(({ leftBy, done }) => leftBy === holder() && done.size > 0)
      .map((parcel) => noteOf(parcel));
  };

  const room = (): number => notes.room(holder());

  /**
   * Writes the note, with fewer records if localStorage is nearly full, or removes it if it would be empty.
   * Returns the records in it; undefined if it could not be written.
   */
  const save = (
    parcels: readonly Parcel[],
    until: number,
    most = room(),
  ): Set<Entry> | undefined => {
    for (let size = most; ; size /= 2) {
      const records = fitting(inMemoryOnly(parcels), size);
      const own = parcels
        .map((parcel) => noteOf(parcel, records))
        .filter(({ isNew, records }) => !isNew || records.length > 0);
      const noted = [...notedLetGo(), ...own];
      if (notes.save({ holder: holder(), until, parcels: noted })) return records;
      if (records.size === 0) return undefined;
    }
  };

  return {
    save,
    /**
     * While the database fails: notes which stored records have ended or are in flight and, if the page is
     * hidden, the records that only memory has.
     */
    keep: (): void => {
      // While the page is shown, it need not look through all that waits in memory.
      const isStored = ({ state }: Parcel) => state !== 'new';
      const [parcels, size] = isHidden()
        ? [line.parcels, room()]
        : [line.parcels.filter(isStored), 0];
      save(parcels, now() + NOTED_MS, size);
    },
  };
};

export type OwnNote = ReturnType<typeof createOwnNote>;
