import type { Row, RowFilter, Span, Store } from '../store/port.js';
import { csvCell } from './csv-cell.js';
import type { ReadingTrouble } from './reading-trouble.js';

/** Rows that are read at a time. */
const PAGE = 500;
/** About how many characters are written at a time. Other requests get a turn after each piece. */
const PIECE = 250_000;

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

/** The columns of CSV: fields of the row, and of its body. */
const OF_ROW = [
  'seq',
  'id',
  'type',
  'project',
  'channel',
  'event',
  'user_id',
  'called_at',
  'received_at',
  'arrivals',
] as const;
const OF_BODY = ['timestamp', 'description', 'icon', 'notify', 'tags', 'properties'];
const valuesOf = (row: Row): unknown[] => {
  const body = row.body as unknown as Record<string, unknown>;
  return [...OF_ROW.map((name) => row[name]), ...OF_BODY.map((name) => body[name])];
};

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
  head: lineOf([...OF_ROW, ...OF_BODY]),
  line: (row) => lineOf(valuesOf(row).map(csvCell)),
};
/** The same for Excel, which reads a file without this mark in the encoding of the country. */
export const CSV_WITH_BOM: Format = { ...CSV, head: `\ufeff${CSV.head}` };

async function* piecesOf(
  pages: AsyncIterable<readonly Row[]>,
  { head, line }: Format,
): AsyncGenerator<string> {
  let piece = head;
  for await (const page of pages) {
    for (const row of page) {
      piece += line(row);
      if (piece.length < PIECE) continue;
      yield piece;
      piece = '';
      await new Promise((resolve) => setTimeout(resolve));
    }
    if (piece) yield piece;
    piece = '';
  }
  if (piece) yield piece;
}

interface Parts {
  store: Pick<Store, 'rows'>;
  trouble: ReadingTrouble;
}

/** A file of rows: all that match, unless the span has a limit. */
export interface Download {
  /** The method and path of the request. */
  request: string;
  format: Format;
  filter: RowFilter;
  span: Omit<Span, 'limit'> & { limit: number | undefined };
}

/**
 * The rows as a stream: only a page of them is in memory at a time. Rejects if the first page cannot be read, so that the
 * request can be answered 503. If a later page cannot be read, the stream fails, so that a part is not taken for the whole.
 */
export const exportRows = async (
  { store, trouble }: Parts,
  { request, format, filter, span }: Download,
): Promise<ReadableStream<Uint8Array>> => {
  const pieces = piecesOf(pagesOf(store, filter, span), format);
  const encoder = new TextEncoder();
  let first: IteratorResult<string> | undefined = await pieces.next();
  trouble.worked();
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = first ?? (await pieces.next());
        first = undefined;
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      } catch (error) {
        trouble.failed(request, error);
        throw error;
      }
    },
    cancel: async () => void (await pieces.return(undefined)),
  });
};
