import type { Refused, Row, Store } from '../store/port.js';
import { arrivedAt, idOf, type Place } from './place.js';

/** How many rows, and how many of the refused, are read at a time. */
const PAGE = 500;

/** A row with its JSON, which is made once for all followers. */
export interface NewRow {
  seq: number;
  /** When it arrived, in milliseconds. */
  at: number;
  row: Row;
  json: string;
  /** The JSON of the body alone, in which a search looks. */
  body: () => string;
}

export interface NewRefused {
  seq: number;
  json: string;
  project: string | undefined;
}

/** The rows and the refused behind a place: one page of each. */
export interface News {
  rows: readonly NewRow[];
  refused: readonly NewRefused[];
  /** A page is full, so there may be more. */
  hasMore: boolean;
  /** The place of a follower that has got these news. */
  behind: Place;
}

const newRow = (row: Row): NewRow => {
  let body: string | undefined;
  return {
    ...{ seq: row.seq, at: arrivedAt(row), row, json: JSON.stringify(row) },
    body: () => (body ??= JSON.stringify(row.body)),
  };
};

/** The news in these lists, which begin behind a place and may be longer than a page. */
export const newsOf = (
  rows: readonly NewRow[],
  refused: readonly NewRefused[],
  from: Place,
): News => {
  const page = { rows: rows.slice(0, PAGE), refused: refused.slice(0, PAGE) };
  const last = page.rows.at(-1);
  const place = last ? { row: last.seq, at: last.at } : { row: from.row, at: from.at };
  return {
    ...page,
    hasMore: rows.length >= PAGE || refused.length >= PAGE,
    behind: { ...place, refused: page.refused.at(-1)?.seq ?? from.refused },
  };
};

export const newsFrom = (rows: readonly Row[], refused: readonly Refused[], from: Place): News =>
  newsOf(
    rows.map(newRow),
    refused.map((one) => ({ seq: one.seq, json: JSON.stringify(one), project: one.project })),
    from,
  );

/** Reads the next page behind a place from the store. */
export const readNews = async (
  store: Pick<Store, 'rows' | 'refused'>,
  from: Place,
): Promise<News> => {
  const rows = await store.rows({}, { after: from.row, limit: PAGE });
  return newsFrom(rows, await store.refused({ after: from.refused, limit: PAGE }), from);
};

/** One server-sent event. https://html.spec.whatwg.org/#server-sent-events */
export const eventText = (place: Place, name: string, json: string): string =>
  `id: ${idOf(place)}\nevent: ${name}\ndata: ${json}\n\n`;

/** Which rows, and which of the refused, a follower gets. */
interface Choice {
  matches: (row: NewRow) => boolean;
  sees: (refused: NewRefused) => boolean;
}
const ALL: Choice = { matches: () => true, sees: () => true };

/** The chosen rows and refused as server-sent events. Each has the place of a follower that has got it. */
export const newsText = (news: News, from: Place, { matches, sees } = ALL): string => {
  const rows = news.rows
    .filter(matches)
    .map(({ seq, at, json }) => eventText({ row: seq, refused: from.refused, at }, 'row', json));
  const refused = news.refused
    .filter(sees)
    .map(({ seq, json }) => eventText({ ...news.behind, refused: seq }, 'refused', json));
  return [...rows, ...refused].join('');
};
