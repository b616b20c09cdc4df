import { mayFail } from '../../util/may-fail.js';
import { getItem, setItem, removeItem, keysOfItems } from '../page.js';
import { nextEnd } from './lease.js';
import {
  isReadable,
  storedOf,
  type Parcel,
  type ParcelKey,
  type StoredParcel,
  type StoredState,
} from './parcel.js';
import type { Store } from './store.js';

/**
 * Characters that the parcels of all exit notes may have. With what stands around them that is less than 256 KiB, a
 * twentieth of what localStorage takes.
 */
const ROOM = 260_000;

export type NotedParcel = StoredParcel & {
  key: ParcelKey;
  /** Whether the database has had the parcel, as far as its page knew. */
  stored: StoredState;
};

/** What a page that is hidden or left writes into localStorage for whoever comes next. */
export interface Note {
  life: string;
  /** Until when its life holds what it has; 0 if the page is gone. */
  until: number;
  list: NotedParcel[];
}

const keyOf = (name: string, life: string): string => `${name} note ${life}`;

/** Reads all notes of a destination, but for those that this version cannot read: the version that wrote them can. */
export const readNotes = (name: string): Note[] =>
  keysOfItems(keyOf(name, '')).flatMap((key) => {
    const read = () => {
      const note = JSON.parse(getItem(key)!) as Note;
      return note.list.every(isReadable) ? note : [];
    };
    return mayFail(read) ?? [];
  });

export const removeNote = (name: string, life: string): void => removeItem(keyOf(name, life));

/**
 * Writes the note of a life, with the newest of these parcels, as many as fit. Returns the parcels in the note, or
 * nothing if localStorage takes no note.
 */
export const writeNote = (
  { name, life }: Pick<Store, 'name' | 'life'>,
  parcels: readonly Parcel[],
  until = nextEnd(),
): Set<Parcel> | undefined => {
  const own = keyOf(name, life);
  let room = ROOM;
  for (const key of keysOfItems(keyOf(name, ''))) {
    if (key !== own) room -= `${getItem(key)}`.length;
  }
  const texts = [...parcels].reverse().map((parcel): [Parcel, string] => {
    const { key, stored } = parcel;
    return [parcel, JSON.stringify({ key, stored, ...storedOf(parcel, life) })];
  });
  // localStorage may have less room: try with half as much.
  for (; ; room /= 2) {
    let left = room;
    const fitting = texts.filter(([, text]) => (left -= text.length) >= 0);
    const list = fitting.map(([, text]) => text);
    if (setItem(own, `{"life":"${life}","until":${until},"list":[${list}]}`)) {
      return new Set(fitting.map(([parcel]) => parcel));
    }
    if (!fitting.length) return undefined;
  }
};
