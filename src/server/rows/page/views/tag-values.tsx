import { Text } from '../../../../show/text.js';
import { inDigits } from '../../../../show/times.js';
import type { TagValues, ValueCount } from '../../../store/port.js';
import { PERCENT } from './percent.js';

/** The values of a tag with the most rows, each with its share of all rows that were looked at. */
export const TagValuesList = ({
  of: { tag, values, others },
  rows,
  onPress,
}: {
  of: TagValues;
  rows: number;
  /** Shows the rows that have the value. */
  onPress: (tag: string) => void;
}) => {
  const most = Math.max(1, ...values.map((value) => value.rows));
  // A filter splits a name and a value at the first sign of equality.
  const mayPress = ({ is_part }: ValueCount) => !is_part && !tag.includes('=');
  const line = (count: number) => (
    <>
      <b>{inDigits(count)}</b>
      <small class="soft">{rows ? PERCENT.format(count / rows) : '–'}</small>
    </>
  );
  if (!values.length) return <p class="soft">No row has this tag.</p>;
  return (
    <ul class="values">
      {values.map((one) => (
        <li>
          <svg class="share" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
            <rect width={(one.rows / most) * 100} height="1" />
          </svg>
          {mayPress(one) ? (
            <button type="button" class="value" onClick={() => onPress(`${tag}=${one.value}`)}>
              {one.value ? <Text of={one.value} max={80} /> : <i class="soft">empty</i>}
            </button>
          ) : (
            <span class="cut">
              <Text of={one.value} max={80} />
              {one.is_part && '…'}
            </span>
          )}
          {line(one.rows)}
        </li>
      ))}
      {others > 0 && (
        <li class="soft">
          <span>all others</span>
          {line(others)}
        </li>
      )}
    </ul>
  );
};
