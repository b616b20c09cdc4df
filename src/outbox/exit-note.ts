import type { OutboxRecord } from '../types.js';

/** What a page writes down, as it is hidden, for whoever comes next. */
export interface ExitNote {
  v: 1;
  owner: string;
  /** The page that wrote it. */
  holder: string;
  /** When the lease ends: 0 when it is released. */
  until: number;
  /** Records whose request may be with the service: in flight, or delivered and not yet deleted. */
  flight: number[];
  /** The owner may stand in IndexedDB, too. */
  stored: boolean;
  /** Records that a page without IndexedDB has taken over: done with, where they are stored as well. */
  taken?: number[];
  /** Records that are not known to be in IndexedDB, by their sequence numbers. */
  unsaved: [seq: number, record: OutboxRecord][];
}

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
  const read = (owner: string): ExitNote | undefined => {
    try {
      const note = JSON.parse(shelf.get(prefix + owner) ?? 'null') as ExitNote | null;
      const isNote = note?.v === 1 && [note.flight, note.unsaved].every(Array.isArray);
      return isNote && note.unsaved.every(([, record]) => record.body) ? note : undefined;
    } catch {
      return undefined; // cut off, or not ours
    }
  };
  return {
    read,
    save: (note: ExitNote): boolean => shelf.set(prefix + note.owner, JSON.stringify(note)),
    remove: (owner: string): void => {
      shelf.set(prefix + owner, undefined);
    },
    all: (): ExitNote[] =>
      shelf
        .keys()
        .filter((key) => key.startsWith(prefix))
        .flatMap((key) => read(key.slice(prefix.length)) ?? []),
  };
};

export type Notes = ReturnType<typeof createNotes>;
