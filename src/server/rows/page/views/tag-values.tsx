import { Text } from '../../../../show/text.js';
import type { TagValues, ValueCount } from '../../../store/port.js';
import { CountList } from './count-list.js';

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
  // A filter splits a name and a value at the first sign of equality.
  const mayPress = ({ is_part }: ValueCount) => !is_part && !tag.includes('=');
  if (!values.length) return <p class="soft">No row has this tag.</p>;
  const items = values.map((one) => ({
    name: one.value ? (
      <Text of={one.is_part ? `${one.value}…` : one.value} max={80} />
    ) : (
      <i>empty</i>
    ),
    count: one.rows,
    onPress: mayPress(one) ? () => onPress(`${tag}=${one.value}`) : undefined,
  }));
  const rest = others > 0 ? [{ name: 'all others', count: others, kind: 'soft rest' }] : [];
  const most = Math.max(...values.map((value) => value.rows));
  return <CountList items={[...items, ...rest]} all={rows} most={most} />;
};
