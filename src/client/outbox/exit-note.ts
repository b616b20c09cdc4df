import { toJson } from '../record/to-json.js';
import type { OutboxRecord } from '../types.js';
import { isRecord } from './is-record.js';
import type { ParcelKey } from './parcel.js';

/** What an exit note says of one parcel. */
export interface NotedParcel {
  key: ParcelKey;
  /** Ids of records that may be with the service. */
  flight: string[];
  /** Ids of records that have come to their end, and may still stand in the database. */
  done: string[];
  /** Records that are not known to stand in the database. */
  records: OutboxRecord[];
  /** It was never given to IndexedDB: a page without that may take it, too. */
  isNew?: boolean;
}

/** What a page writes down, as it is hidden, for whoever comes next. */
export interface ExitNote {
  v: 2;
  /** The life of the page that wrote it. */
  holder: string;
  /** Until when it holds its parcels; 0 where it has let them go. */
  until: number;
  parcels: NotedParcel[];
}

/**
 * Characters of all exit notes of a site together: about a twentieth of what localStorage takes, since the
 * rest is the site's own.
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

const isNoted = (noted: NotedParcel | null): boolean =>
  !!noted &&
  [noted.key, noted.flight, noted.done, noted.records].every(Array.isArray) &&
  noted.records.every(isRecord);

const isNote = ({ v, holder, until, parcels }: ExitNote): boolean =>
  v === VERSION &&
  typeof holder === 'string' &&
  Number.isFinite(until) &&
  Array.isArray(parcels) &&
  parcels.every(isNoted);

const isAnyNote = (key: string): boolean =>
  key.startsWith('analytics-outbox ') && key.includes(' note ');

/** A synchronous key-value store: localStorage, made safe. */
export interface Shelf {
  get: (key: string) => string | undefined;
  /** Writes, or removes when there is no value; false where it could not. */
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
    // Cut off, or not ours: it would be in the way for ever. What a later version wrote is for that one.
    if (!(Number(note?.v) > VERSION)) shelf.set(key, undefined);
    return undefined;
  };
  return {
    /** Characters that the note of this holder may have, beside all others of the site. */
    room: (holder: string): number =>
      shelf
        .keys()
        .filter((key) => isAnyNote(key) && key !== prefix + holder)
        .reduce((room, key) => room - key.length - (shelf.get(key)?.length ?? 0), NOTES_ROOM),
    /** Where it does not fit, an earlier one stays. One that says nothing is removed. */
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
