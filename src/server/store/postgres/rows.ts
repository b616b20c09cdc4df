import { anyCase } from '../any-case.js';
import type { Row, RowFilter, Span } from '../port.js';
import { storableText } from '../storable.js';
import { tagTexts } from '../tag-texts.js';
import { present } from '../present.js';
import { isoOut, placeOut, type Tables } from './columns.js';
import type { PostgresDatabase } from './database.js';
import { createConditions, pageOf } from './span.js';

/**
 * A regular expression that finds the text as JSON writes it, whatever its case. All characters except letters and
 * digits are written as numeric escapes, so that none has a special meaning.
 */
const patternOf = (text: string): string =>
  anyCase(JSON.stringify(text).slice(1, -1))
    .map((forms) => {
      const escaped = forms.map((form) =>
        /[\p{L}\p{N}]/u.test(form)
          ? form
          : `\\U${form.codePointAt(0)!.toString(16).padStart(8, '0')}`,
      );
      return escaped.length > 1 ? `[${escaped.join('')}]` : escaped[0]!;
    })
    .join('');

const COLUMNS = `${placeOut('r.seq')}, id, type, project, channel, event, user_id, body,
  ${isoOut('called_at')} AS called_at, ${isoOut('received_at')} AS received_at, arrivals, client`;

export const createRowReader =
  (database: PostgresDatabase, { records }: Tables) =>
  async (filter: RowFilter, span: Span): Promise<Row[]> => {
    const conditions = createConditions();
    const { value, add } = conditions;
    const list = (names: readonly string[]) => `${value(names.map(storableText))}::text[]`;
    for (const name of ['project', 'channel', 'user_id', 'type', 'client'] as const) {
      const given = filter[name];
      if (given !== undefined) add(`${name} = ${value(storableText(given))}`);
    }
    if (filter.event?.length) add(`event = ANY(${list(filter.event)})`);
    if (filter.not?.length) add(`(event IS NULL OR event <> ALL(${list(filter.not)}))`);
    if (filter.notify) add('notify');
    const { from, to } = filter;
    const arrived = [
      ...(from === undefined ? [] : [`received_at >= ${value(from)}`]),
      ...(to === undefined ? [] : [`received_at < ${value(to)}`]),
    ].join(' AND ');
    if (arrived) add(arrived);
    // Postgres would walk from the newest row to those of a time long ago. `OFFSET 0` has it look by their time first.
    const isBetween = from !== undefined && to !== undefined;
    const ends = `WITH ends AS MATERIALIZED (SELECT min(seq) AS first, max(seq) AS last
      FROM (SELECT seq FROM ${records} WHERE ${arrived} OFFSET 0) AS arrived)`;
    if (isBetween) add('r.seq BETWEEN (SELECT first FROM ends) AND (SELECT last FROM ends)');
    for (const tag of filter.tag ?? []) {
      const texts = tagTexts(storableText(tag)).map(
        (one) => `strpos(body::text, ${value(one)}) > 0`,
      );
      add(`(${texts.join(' OR ')})`);
    }
    if (filter.text) add(`body::text ~ ${value(patternOf(storableText(filter.text)))}`);
    const { condition, order, values } = pageOf(span, conditions);
    const rows = await database.read<Row>({
      text: `${isBetween ? ends : ''} SELECT ${COLUMNS} FROM ${records} AS r WHERE ${condition} ${order}`,
      values,
    });
    return rows.map(present);
  };
