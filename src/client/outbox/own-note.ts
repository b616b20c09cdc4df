import { toJson } from '../record/to-json.js';
import { flightOf, HOLD_MS, LONGEST_HOLD_MS, type Context } from './context.js';
import type { NotedParcel } from './exit-note.js';
import type { Entry, Parcel } from './parcel.js';

/** Nobody else takes what a living page without a database has noted, for this long. */
const NOTED_MS = LONGEST_HOLD_MS - HOLD_MS;

/** Characters that a record in a note may need beside itself. */
const SPARE = 100;

/** Of records, what a note of so many characters takes: identifies first, then the newest. */
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

/** Records that only memory has. */
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

  /** What was let go while the database fails: whoever claims it has to know what has come to its end. */
  const remains = (): NotedParcel[] => {
    if (!inMemory()) return [];
    return [...former.values()]
      .filter(({ leftBy, done }) => leftBy === holder() && done.size > 0)
      .map((parcel) => noteOf(parcel));
  };

  const room = (): number => notes.room(holder());

  /**
   * Writes it, or removes it where there is nothing to say; less of it where localStorage is nearly full.
   * Answers with the records in it; nothing where it could not be written.
   */
  const save = (parcels: Parcel[], until: number, most = room()): Set<Entry> | undefined => {
    for (let size = most; ; size /= 2) {
      const records = fitting(inMemoryOnly(parcels), size);
      const own = parcels
        .map((parcel) => noteOf(parcel, records))
        .filter(({ isNew, records }) => !isNew || records.length > 0);
      const told = [...remains(), ...own];
      if (notes.save({ holder: holder(), until, parcels: told })) return records;
      if (records.size === 0) return undefined;
    }
  };

  return {
    save,
    /**
     * Without a database: what has become of the records that stand in it and, while the page is hidden, the
     * records that only memory has.
     */
    keep: (): void => {
      save([...line.parcels], now() + NOTED_MS, isHidden() ? room() : 0);
    },
  };
};

export type OwnNote = ReturnType<typeof createOwnNote>;
