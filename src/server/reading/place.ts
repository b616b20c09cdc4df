import type { Row } from '../store/port.js';

/** Places in the feeds of rows, of the refused and of erasures. The `id` of an event has them. */
export interface Place {
  row: number;
  refused: number;
  erased: number;
  /** When that row arrived, in milliseconds. By it a place of another store is recognised. */
  at?: number | undefined;
}

/** Reads the `id` of an event, or the number of a row. Returns undefined if the text is neither. */
export const readPlace = (text: string | null | undefined): Place | undefined => {
  if (!/^\d{1,15}(\.\d{1,15}){0,3}$/.test(text ?? '')) return undefined;
  const [row = 0, refused = 0, erased = 0, at] = text!.split('.').map(Number);
  return { row, refused, erased, at };
};

export const idOf = ({ row, refused, erased, at }: Place): string =>
  `${row}.${refused}.${erased}${at === undefined ? '' : `.${at}`}`;

export const arrivedAt = ({ received_at }: Pick<Row, 'received_at'>): number =>
  Date.parse(received_at);

/** The later of two places, in each of the feeds. */
export const furthest = (one: Place, other: Place): Place => ({
  ...(one.row >= other.row ? one : other),
  refused: Math.max(one.refused, other.refused),
  erased: Math.max(one.erased, other.erased),
});
