import type { EventBody, IdentifyBody } from '../interface/bodies.js';
import type { Row } from '../server/store/port.js';
import { cut } from './visible.js';

/** A tag or a property. */
interface Chip {
  key: string;
  /** As it is read: a text without its quotes. */
  text: string;
}

/** A row with this many chips says how many more there are. */
const MAX_CHIPS = 8;
/** Enough for one line; the open row shows the rest. */
const MAX_CHIP = 60;
/** One sign, or the few of an emoji. A word may be sent as an icon, too, but its place has no room for a word. */
const ICON = /^(?:[^\p{L}]{1,12}|.)$/u;

/** Empty where a word was sent as the icon, or nothing. */
export const iconOf = (icon: unknown): string =>
  typeof icon === 'string' && ICON.test(icon) ? icon : '';

export const valueText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/** The tags of an event, or the properties of an identify. */
export const tagsOf = ({ type, body }: Row): Readonly<Record<string, unknown>> =>
  ((type === 'identify' ? (body as IdentifyBody).properties : (body as EventBody).tags) ??
    {}) as Readonly<Record<string, unknown>>;

/** What one line shows of a row. */
interface Summary {
  icon: string;
  name: string;
  description: string;
  chips: readonly Chip[];
  more: number;
}

export const summaryOf = (row: Row): Summary => {
  const tags = Object.entries(tagsOf(row));
  const { icon, description = '' } = row.type === 'event' ? (row.body as EventBody) : {};
  return {
    icon: iconOf(icon),
    name: row.type === 'identify' ? 'identify' : (row.event ?? ''),
    description: description ?? '',
    chips: tags.slice(0, MAX_CHIPS).map(([key, value]) => ({
      key: cut(key, MAX_CHIP).text,
      text: cut(valueText(value), MAX_CHIP + 1).text,
    })),
    more: Math.max(0, tags.length - MAX_CHIPS),
  };
};
