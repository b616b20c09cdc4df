import type { Refused, Row, Store } from '../store/port.js';
import type { Erasure } from '../store/progress.js';
import { arrivedAt, idOf, type Place } from './place.js';

/** How many rows, refused and erasures are read at a time. */
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

export interface NewErasure {
  seq: number;
  json: string;
  erasure: Erasure;
}

/** The rows, the refused and the erasures behind a place: one page of each. */
export interface News {
  rows: readonly NewRow[];
  refused: readonly NewRefused[];
  erased: readonly NewErasure[];
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
  { rows, refused, erased }: Pick<News, 'rows' | 'refused' | 'erased'>,
  from: Place,
): News => {
  const page = {
    rows: rows.slice(0, PAGE),
    refused: refused.slice(0, PAGE),
    erased: erased.slice(0, PAGE),
  };
  const last = page.rows.at(-1);
  const place = last ? { row: last.seq, at: last.at } : { row: from.row, at: from.at };
  return {
    ...page,
    hasMore: [rows, refused, erased].some(({ length }) => length >= PAGE),
    behind: {
      ...place,
      refused: page.refused.at(-1)?.seq ?? from.refused,
      erased: page.erased.at(-1)?.seq ?? from.erased,
    },
  };
};

interface Read {
  rows: readonly Row[];
  refused: readonly Refused[];
  erased?: readonly Erasure[];
}

export const newsFrom = ({ rows, refused, erased = [] }: Read, from: Place): News =>
  newsOf(
    {
      rows: rows.map(newRow),
      refused: refused.map((one) => ({
        ...{ seq: one.seq, json: JSON.stringify(one), project: one.project },
      })),
      erased: erased.map((erasure) => ({
        ...{ seq: erasure.place, json: JSON.stringify(erasure), erasure },
      })),
    },
    from,
  );

/**
 * Reads the next page behind a place from the store. Erasures are read first: a row that is read after them is either not
 * erased, or an erasure that is read later tells of it.
 */
export const readNews = async (
  store: Pick<Store, 'rows' | 'refused' | 'progress'>,
  from: Place,
): Promise<News> => {
  const erased = await store.progress.erasures(from.erased, PAGE);
  const rows = await store.rows({}, { after: from.row, limit: PAGE });
  const refused = await store.refused({ after: from.refused, limit: PAGE });
  return newsFrom({ rows, refused, erased }, from);
};

/** One server-sent event. https://html.spec.whatwg.org/#server-sent-events */
export const eventText = (place: Place, name: string, json: string): string =>
  `id: ${idOf(place)}\nevent: ${name}\ndata: ${json}\n\n`;

/** Which rows, refused and erasures a follower gets. */
interface Choice {
  matches: (row: NewRow) => boolean;
  sees: (refused: NewRefused) => boolean;
  hears: (erasure: NewErasure) => boolean;
}
const ALL: Choice = { matches: () => true, sees: () => true, hears: () => true };

/** The chosen news as server-sent events. Each has the place of a follower that has got it. */
export const newsText = (news: News, from: Place, { matches, sees, hears } = ALL): string => {
  const erased = news.erased
    .filter(hears)
    .map(({ seq, json }) => eventText({ ...from, erased: seq }, 'erased', json));
  const behind = { ...from, erased: news.behind.erased };
  const rows = news.rows
    .filter(matches)
    .map(({ seq, at, json }) => eventText({ ...behind, row: seq, at }, 'row', json));
  const refused = news.refused
    .filter(sees)
    .map(({ seq, json }) => eventText({ ...news.behind, refused: seq }, 'refused', json));
  return [...erased, ...rows, ...refused].join('');
};
