import { toJson } from '../record/to-json.js';
import type { OutboxRecord } from '../types.js';
import { isRecord } from './is-record.js';

/** What a page writes down, as it is hidden, for whoever comes next. */
export interface ExitNote {
  v: 1;
  owner: string;
  /** Who held the owner as it was written. */
  holder: string;
  /** When the lease ends: 0 when it is released. */
  until: number;
  /** Records whose request may be with the service. */
  flight: number[];
  /** Records that are done with, and not yet deleted. */
  done?: number[];
  /** The owner may stand in IndexedDB, too. */
  stored: boolean;
  /** Records that a page without IndexedDB has taken over: done with, where they are stored as well. */
  taken?: number[];
  /** Records that are not known to be in IndexedDB, and the first of those each is stored with. */
  unsaved: [seq: number, record: OutboxRecord, first: number][];
}

/**
 * Characters of all exit notes of a site together: about a twentieth of what localStorage takes, since the
 * rest is the site's own.
 */
export const NOTES_ROOM = 262_144;

const parse = (text: string): ExitNote | undefined => {
  try {
    return (JSON.parse(text) as ExitNote | null) ?? undefined;
  } catch {
    return undefined;
  }
};

const isNote = (note: ExitNote): boolean =>
  note.v === 1 &&
  typeof note.owner === 'string' &&
  typeof note.holder === 'string' &&
  Number.isFinite(note.until) &&
  [note.flight, note.unsaved, note.done ?? [], note.taken ?? []].every(Array.isArray) &&
  note.unsaved.every(
    (kept) => Array.isArray(kept) && [kept[0], kept[2]].every(Number.isFinite) && isRecord(kept[1]),
  );

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
  /** By page, too: a frozen one may leave its note beside its adopter's. */
  const keyOf = ({ owner, holder }: Pick<ExitNote, 'owner' | 'holder'>) =>
    `${prefix}${owner} ${holder}`;
  const read = (key: string): ExitNote | undefined => {
    const text = shelf.get(key);
    if (text === undefined) return undefined;
    const note = parse(text);
    if (note && isNote(note)) return note;
    // Cut off, or not ours: it would be in the way for ever. What a later version wrote is for that one.
    if (!(Number(note?.v) > 1)) shelf.set(key, undefined);
    return undefined;
  };
  const save = (note: ExitNote): boolean => shelf.set(keyOf(note), toJson(note));
  const isAnyNote = (key: string) => key.startsWith('analytics-outbox ') && key.includes(' note ');
  return {
    /** Says of one that stands that a record of it is done with. */
    finish: (note: Pick<ExitNote, 'owner' | 'holder'>, seq: number): void => {
      const found = read(keyOf(note));
      if (found) save({ ...found, done: [...(found.done ?? []), seq] });
    },
    /** Whether it stands as it was written, or somebody has taken something over by it. */
    state: (note: Pick<ExitNote, 'owner' | 'holder'>): 'missing' | 'taken' | 'whole' => {
      const found = read(keyOf(note));
      return !found ? 'missing' : found.taken?.length ? 'taken' : 'whole';
    },
    /** Characters that this note may have, beside all others of the site. */
    room: (note: Pick<ExitNote, 'owner' | 'holder'>): number =>
      shelf
        .keys()
        .filter((key) => isAnyNote(key) && key !== keyOf(note))
        .reduce((room, key) => room - key.length - (shelf.get(key)?.length ?? 0), NOTES_ROOM),
    /** Where it does not fit, an earlier one stays. */
    save,
    remove: (note: Pick<ExitNote, 'owner' | 'holder'>): void => {
      shelf.set(keyOf(note), undefined);
    },
    all: (): ExitNote[] =>
      shelf
        .keys()
        .filter((key) => key.startsWith(prefix))
        .flatMap((key) => read(key) ?? []),
  };
};

export type Notes = ReturnType<typeof createNotes>;
