import type { Row } from '../store/port.js';

/** Places in the feeds of rows and of the refused. The `id` of an event has them. */
export interface Place {
  row: number;
  refused: number;
  /** When that row arrived, in milliseconds. By it a place of another store is recognised. */
  at?: number | undefined;
}

/** Reads the `id` of an event, or the number of a row. Returns undefined if the text is neither. */
export const readPlace = (text: string | null | undefined): Place | undefined => {
  const [, row, refused = '0', at] =
    /^(\d{1,15})(?:\.(\d{1,15}))?(?:\.(\d{1,15}))?$/.exec(text ?? '') ?? [];
  if (row === undefined) return undefined;
  return { row: Number(row), refused: Number(refused), at: at === undefined ? at : Number(at) };
};

export const idOf = ({ row, refused, at }: Place): string =>
  `${row}.${refused}${at === undefined ? '' : `.${at}`}`;

export const arrivedAt = ({ received_at }: Pick<Row, 'received_at'>): number =>
  Date.parse(received_at);

/** The later of two places, in each of the two feeds. */
export const furthest = (one: Place, other: Place): Place => ({
  ...(one.row >= other.row ? one : other),
  refused: Math.max(one.refused, other.refused),
});
