import { demoIdIn } from '../calls/call.js';
import type { EventRow, IdentifyRow } from '../database/service-client.js';
import { byId, make, setText } from '../dom.js';
import { createKeyedRows } from './keyed-rows.js';
import { timeOf } from './time.js';

const MOST_SHOWN = 100;

type Row = { table: 'event'; row: EventRow } | { table: 'identify'; row: IdentifyRow };

const draw = (item: Row): HTMLElement => {
  const { row, table } = item;
  const at = Date.parse(table === 'event' ? item.row.timestamp : row.received_at);
  const given = table === 'event' ? item.row.tags : item.row.properties;
  const data = JSON.stringify(given);
  return make(
    'tr',
    {},
    make('td', { class: 'row-cell' }, `${table} ${row.id}`),
    make(
      'td',
      { class: 'long' },
      make('code', {}, demoIdIn(given) ?? ''),
      table === 'event' ? eventWords(item.row) : 'profile',
    ),
    make('td', { class: 'user-cell long' }, row.user_id ?? '–'),
    make(
      'td',
      { class: 'time-cell extra' },
      make('time', { datetime: new Date(at).toISOString() }, timeOf(at)),
    ),
    make('td', { class: 'data-cell long extra' }, make('code', { title: data }, data)),
  );
};

const eventWords = ({ icon, event, channel, notify, description }: EventRow): string =>
  [
    icon,
    event,
    channel === 'web' ? '' : `in ${channel}`,
    notify ? '(notify)' : '',
    description ? `– ${description}` : '',
  ]
    .filter(Boolean)
    .join(' ');

interface Held {
  events: readonly EventRow[];
  identifies: readonly IdentifyRow[];
  total: number;
}

/** The latest rows of the service's database. */
export const createRowsView = () => {
  const update = createKeyedRows<Row>(byId('rows'), {
    key: ({ table, row }) => `${table} ${row.id}`,
    look: () => '', // a row never changes
    draw,
  });
  const count = byId('rows-count');
  const empty = byId('rows-empty');

  return ({ events, identifies, total }: Held): void => {
    const rows: Row[] = [
      ...events.map((row) => ({ table: 'event' as const, row })),
      ...identifies.map((row) => ({ table: 'identify' as const, row })),
    ];
    rows.sort((a, b) => b.row.received_at.localeCompare(a.row.received_at) || b.row.id - a.row.id);
    update(rows.slice(0, MOST_SHOWN));
    empty.hidden = total > 0;
    setText(count, total === 1 ? '1 row' : `${total} rows`);
  };
};
