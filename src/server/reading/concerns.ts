import type { RowFilter } from '../store/port.js';
import type { Erasure } from '../store/progress.js';
import { storableText } from '../store/storable.js';

/** Whether an erasure may have deleted rows that pass the filter. */
export const concerns = (filter: RowFilter, erasure: Erasure): boolean =>
  (['project', 'user_id', 'channel'] as const).every((name) => {
    const [asked, erased] = [filter[name], erasure[name]];
    return asked === undefined || erased === undefined || storableText(asked) === erased;
  });
