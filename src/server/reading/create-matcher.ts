import { anyCase } from '../store/any-case.js';
import type { RowFilter } from '../store/port.js';
import { storableText } from '../store/storable.js';
import { tagTexts } from '../store/tag-texts.js';
import type { NewRow } from './news.js';

/** A pattern that finds the text as JSON writes it, in the same cases as a store does. */
const patternOf = (text: string): RegExp => {
  const inJson = JSON.stringify(storableText(text)).slice(1, -1);
  const escaped = (form: string) => `\\u{${form.codePointAt(0)!.toString(16)}}`;
  return new RegExp(
    anyCase(inJson)
      .map((forms) => `[${forms.map(escaped).join('')}]`)
      .join(''),
    'u',
  );
};

/** Says whether a row that was read passes the filter, with the same result as the store. */
export const createMatcher = (
  filter: RowFilter,
): ((row: Pick<NewRow, 'row' | 'body'>) => boolean) => {
  const equal = (['project', 'channel', 'user_id', 'type', 'client'] as const).flatMap((name) => {
    const value = filter[name];
    return value === undefined ? [] : [[name, storableText(value)] as const];
  });
  const [event, not] = [filter.event?.map(storableText), filter.not?.map(storableText)];
  const { from, to } = filter;
  const tags = filter.tag?.map((tag) => tagTexts(storableText(tag))) ?? [];
  const pattern = filter.text ? patternOf(filter.text) : undefined;
  return ({ row, body }) => {
    if (equal.some(([name, value]) => row[name] !== value)) return false;
    if (event?.length && !event.includes(row.event ?? '')) return false;
    if (row.event !== undefined && not?.includes(row.event)) return false;
    if (from !== undefined && row.received_at < from) return false;
    if (to !== undefined && row.received_at >= to) return false;
    if (tags.some((texts) => !texts.some((text) => body().includes(text)))) return false;
    return !pattern || pattern.test(body());
  };
};
