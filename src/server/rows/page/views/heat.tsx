import { countOf, dayInWords } from '../../../../show/times.js';

interface Props {
  /** Each day with its rows; `null` where they were not read. */
  days: readonly { at: number; rows: number | null }[];
  /** Said of all days together, behind their number. */
  words?: string;
  now: number;
}

/** A square for each day: the darker, the more rows. */
export const Heat = ({ days, words = '', now }: Props) => {
  const most = Math.max(1, ...days.map(({ rows }) => rows ?? 0));
  const active = days.filter(({ rows }) => rows).length;
  const unknown = days.filter(({ rows }) => rows === null).length;
  const rest = unknown ? `, ${unknown} not loaded` : '';
  return (
    <div class="heat" role="img" aria-label={`${countOf(active, 'day')}${words} with rows${rest}`}>
      {days.map(({ at, rows }) => (
        <i
          title={`${dayInWords(at, now)}: ${rows === null ? 'not loaded' : countOf(rows, 'row')}`}
          class={rows === null ? 'unknown' : rows ? '' : 'none'}
          style={{ opacity: rows ? 0.25 + 0.75 * (rows / most) : 1 }}
        />
      ))}
    </div>
  );
};
