import type { Row, RowFilter } from '../store/port.js';
import type { Erasure } from '../store/progress.js';
import { storableText } from '../store/storable.js';

const NAMES = ['project', 'user_id', 'channel', 'event'] as const;

/** Whether an erasure has deleted a row that was read before. */
export const isErased = (row: Row, erasure: Erasure): boolean => {
  const { from, to, upto } = erasure;
  if (row.seq >= upto) return false;
  if (NAMES.some((name) => erasure[name] !== undefined && row[name] !== erasure[name]))
    return false;
  const { received_at: at } = row;
  return (from === undefined || at >= from) && (to === undefined || at < to);
};

/** Whether an erasure may have deleted rows that pass the filter. */
export const concerns = (filter: RowFilter, erasure: Erasure): boolean =>
  (['project', 'user_id', 'channel'] as const).every((name) => {
    const [asked, erased] = [filter[name], erasure[name]];
    return asked === undefined || erased === undefined || storableText(asked) === erased;
  });
