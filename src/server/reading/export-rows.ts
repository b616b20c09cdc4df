import type { Row, RowFilter, Span, Store } from '../store/port.js';
import { csvCell } from './csv-cell.js';
import type { ReadingTrouble } from './reading-trouble.js';

const PAGE = 500;

/** The rows of a filter, page by page: all of them, unless the span has a limit. */
async function* pagesOf(
  store: Pick<Store, 'rows'>,
  filter: RowFilter,
  span: Omit<Span, 'limit'> & { limit: number | undefined },
): AsyncGenerator<Row[]> {
  const rest = { ...span };
  for (let left = span.limit ?? Infinity; left > 0;) {
    const limit = Math.min(PAGE, left);
    const rows = await store.rows(filter, { ...rest, limit });
    if (rows.length) yield rows;
    const last = rows.at(-1);
    if (!last || rows.length < limit) return;
    left -= rows.length;
    if (span.newest) rest.before = last.seq;
    else rest.after = last.seq;
  }
}

const COLUMNS: readonly (readonly [name: string, value: (row: Row) => unknown])[] = [
  ...(
    [
      'seq',
      'id',
      'type',
      'project',
      'channel',
      'event',
      'user_id',
      'called_at',
      'received_at',
    ] as const
  ).map((name) => [name, (row: Row) => row[name]] as const),
  ['arrivals', (row) => row.arrivals],
  ...['timestamp', 'description', 'icon', 'notify', 'tags', 'properties'].map(
    (name) => [name, (row: Row) => (row.body as unknown as Record<string, unknown>)[name]] as const,
  ),
];

const lineOf = (cells: readonly string[]): string => `${cells.join(',')}\r\n`;

export interface Format {
  type: string;
  /** What the file begins with. */
  head: string;
  line: (row: Row) => string;
}

export const NDJSON: Format = {
  type: 'application/x-ndjson',
  head: '',
  line: (row) => `${JSON.stringify(row)}\n`,
};
export const CSV: Format = {
  type: 'text/csv; charset=utf-8; header=present',
  head: lineOf(COLUMNS.map(([name]) => name)),
  line: (row) => lineOf(COLUMNS.map(([, value]) => csvCell(value(row)))),
};
/** The same for Excel, which takes a file without this mark for one in the encoding of the country. */
export const CSV_WITH_BOM: Format = { ...CSV, head: `\ufeff${CSV.head}` };

interface Parts {
  store: Pick<Store, 'rows'>;
  trouble: ReadingTrouble;
}

/**
 * The rows as a stream: only a page of them is in memory at a time. Rejects if the first page cannot be read, so that the
 * request can be answered 503. If a later one cannot be read, the stream fails, so that nobody takes a part for the whole.
 */
export const exportRows = async (
  { store, trouble }: Parts,
  { head, line }: Format,
  filter: RowFilter,
  span: Omit<Span, 'limit'> & { limit: number | undefined },
): Promise<ReadableStream<Uint8Array>> => {
  const pages = pagesOf(store, filter, span);
  const encoder = new TextEncoder();
  let first: IteratorResult<Row[]> | undefined = await pages.next();
  trouble.worked();
  return new ReadableStream({
    start: (controller) => head && controller.enqueue(encoder.encode(head)),
    pull: async (controller) => {
      try {
        const { done, value } = first ?? (await pages.next());
        first = undefined;
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value.map(line).join('')));
      } catch (error) {
        trouble.failed('GET /rows', error);
        throw error;
      }
    },
    cancel: async () => void (await pages.return(undefined)),
  } as UnderlyingDefaultSource<Uint8Array>);
};
