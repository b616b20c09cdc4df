import { toJson } from '../record/to-json.js';
import type { OutboxRecord } from '../types.js';
import { isRecord } from './is-record.js';
import type { ParcelKey } from './parcel.js';

/** What an exit note says of one parcel. */
export interface NotedParcel {
  key: ParcelKey;
  /** The ids of records that the service may have. */
  flight: string[];
  /** The ids of records that have come to their end, and may still be in the database. */
  done: string[];
  /** The records that are not known to be in the database. */
  records: OutboxRecord[];
  /** The parcel was never given to IndexedDB, so a page without IndexedDB may take it, too. */
  isNew?: boolean;
}

/** What a page that is hidden or left writes down for whoever comes next. */
export interface ExitNote {
  v: 2;
  /** The life of the page that wrote it. */
  holder: string;
  /** The page holds its parcels until then; 0 if it has let them go. */
  until: number;
  parcels: NotedParcel[];
}

/**
 * All exit notes of a site together have up to this many characters: about a twentieth of what localStorage
 * takes, since the rest is the site's own.
 */
export const NOTES_ROOM = 262_144;

const VERSION = 2;

const parse = (text: string): ExitNote | undefined => {
  try {
    return (JSON.parse(text) as ExitNote | null) ?? undefined;
  } catch {
    return undefined;
  }
};

const isNotedParcel = (noted: NotedParcel | null): boolean =>
  !!noted &&
  [noted.key, noted.flight, noted.done, noted.records].every(Array.isArray) &&
  noted.records.every(isRecord);

const isNote = ({ v, holder, until, parcels }: ExitNote): boolean =>
  v === VERSION &&
  typeof holder === 'string' &&
  Number.isFinite(until) &&
  Array.isArray(parcels) &&
  parcels.every(isNotedParcel);

const isAnyNote = (key: string): boolean =>
  key.startsWith('analytics-outbox ') && key.includes(' note ');

/** A synchronous key-value store: localStorage, made safe. */
export interface Shelf {
  get: (key: string) => string | undefined;
  /** Writes a value, or removes it if there is none. False if that failed. */
  set: (key: string, value: string | undefined) => boolean;
  keys: () => string[];
}

/**
 * Exit notes in localStorage. The same goes into IndexedDB, because no engine keeps both: WebKit loses
 * what a leaving page puts into IndexedDB, Firefox, across sites, what it puts into localStorage.
 */
export const createNotes = (shelf: Shelf, name: string) => {
  const prefix = `${name} note `;
  const read = (key: string): ExitNote | undefined => {
    const note = parse(shelf.get(key) ?? '');
    if (note && isNote(note)) return note;
    // A note that is cut off or not ours is removed, or it would stay for ever. A later version's note is left.
    if (!(Number(note?.v) > VERSION)) shelf.set(key, undefined);
    return undefined;
  };
  return {
    /** How many characters the note of this holder may have, next to all other notes of the site. */
    room: (holder: string): number =>
      shelf
        .keys()
        .filter((key) => isAnyNote(key) && key !== prefix + holder)
        .reduce((room, key) => room - key.length - (shelf.get(key)?.length ?? 0), NOTES_ROOM),
    /** Writes a note, or removes it if it is empty. If it does not fit, an earlier note of the holder stays. */
    save: (note: Omit<ExitNote, 'v'>): boolean =>
      shelf.set(
        prefix + note.holder,
        note.parcels.length > 0 ? toJson({ v: VERSION, ...note }) : undefined,
      ),
    remove: (holder: string): void => {
      shelf.set(prefix + holder, undefined);
    },
    all: (): ExitNote[] =>
      shelf
        .keys()
        .filter((key) => key.startsWith(prefix))
        .flatMap((key) => read(key) ?? []),
  };
};

export type Notes = ReturnType<typeof createNotes>;
