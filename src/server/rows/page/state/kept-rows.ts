import { isErased } from '../../../../interface/is-erased.js';
import type { Row } from '../../../store/port.js';
import type { Erasure } from '../../../store/progress.js';

/** A row with the length of its JSON, by which memory is bounded. */
export interface Arrival {
  row: Row;
  size: number;
}

/**
 * The rows that the page has. `shown` is one stretch of the feed without a gap, newest first. While somebody reads,
 * what arrives waits in `waiting`, newest first too, until it is brought in.
 */
export interface KeptRows {
  shown: readonly Arrival[];
  waiting: readonly Arrival[];
  /** How many rows have arrived since somebody reads, those that `waiting` had no room for included. */
  waitingCount: number;
  /** Rows between `waiting` and `shown` were dropped for want of room, so `waiting` will replace `shown`. */
  isTorn: boolean;
  /** The service may have rows that are older than the last of `shown`. */
  hasOlder: boolean;
}

export interface Bounds {
  rows: number;
  /** Characters of JSON: a few rows of a megabyte each weigh as much as thousands of others. */
  size: number;
}

export const BOUNDS: Bounds = { rows: 5000, size: 24_000_000 };

export const NO_ROWS: KeptRows = {
  ...{ shown: [], waiting: [], waitingCount: 0, isTorn: false, hasOlder: false },
};

/** How many of these rows fit into the bounds, counted from the first; one at least. */
const fitting = (arrivals: readonly Arrival[], bounds: Bounds): number => {
  let size = 0;
  const end = arrivals.findIndex((arrival, at) => {
    size += arrival.size;
    return at > 0 && (at >= bounds.rows || size > bounds.size);
  });
  return end < 0 ? arrivals.length : end;
};

/** Replaces rows that the feed has sent again, after a broken connection or with a new count of arrivals. */
const withUpdates = (
  arrivals: readonly Arrival[],
  bySeq: ReadonlyMap<number, Arrival>,
): readonly Arrival[] =>
  bySeq.size && arrivals.some(({ row }) => bySeq.has(row.seq))
    ? arrivals.map((arrival) => bySeq.get(arrival.row.seq) ?? arrival)
    : arrivals;

const newestSeq = ({ waiting, shown }: KeptRows): number =>
  (waiting[0] ?? shown[0])?.row.seq ?? -Infinity;

/** Takes in rows in the order of the feed, oldest first. */
export const arrive = (
  kept: KeptRows,
  batch: readonly Arrival[],
  { isHeld, bounds = BOUNDS }: { isHeld: boolean; bounds?: Bounds },
): KeptRows => {
  const newest = newestSeq(kept);
  const fresh = batch.filter(({ row }) => row.seq > newest).reverse();
  const again = new Map(
    batch.filter(({ row }) => row.seq <= newest).map((arrival) => [arrival.row.seq, arrival]),
  );
  const shown = withUpdates(kept.shown, again);
  const waiting = [...fresh, ...withUpdates(kept.waiting, again)];
  const fit = fitting(waiting, bounds);
  const held: KeptRows = {
    ...kept,
    shown,
    waiting: fit < waiting.length ? waiting.slice(0, fit) : waiting,
    waitingCount: kept.waitingCount + fresh.length,
    isTorn: kept.isTorn || fit < waiting.length,
  };
  return isHeld ? held : bringIn(held, bounds);
};

/** Takes the rows away that the service has erased. */
export const withoutErased = (kept: KeptRows, erased: readonly Erasure[]): KeptRows => {
  if (!erased.length) return kept;
  const isLeft = ({ row }: Arrival) => !erased.some((erasure) => isErased(row, erasure));
  const waiting = kept.waiting.filter(isLeft);
  const waitingCount = kept.waitingCount - kept.waiting.length + waiting.length;
  return { ...kept, shown: kept.shown.filter(isLeft), waiting, waitingCount };
};

/**
 * Puts the waiting rows on top of the shown ones. If rows between the two were dropped, only the waiting ones are shown,
 * and the others are fetched again as older rows.
 */
export const bringIn = (kept: KeptRows, bounds = BOUNDS): KeptRows => {
  if (!kept.waitingCount && !kept.isTorn) return kept;
  const all = kept.isTorn ? kept.waiting : [...kept.waiting, ...kept.shown];
  const fit = fitting(all, bounds);
  return {
    shown: fit < all.length ? all.slice(0, fit) : all,
    ...{ waiting: [], waitingCount: 0, isTorn: false },
    hasOlder: kept.hasOlder || kept.isTorn || fit < all.length,
  };
};

/**
 * Appends older rows, newest first, which were fetched when somebody scrolled to the end. They follow the row `before`.
 * If that is not the last shown row any more, there would be a gap, so they are left out.
 */
export const addOlder = (
  kept: KeptRows,
  batch: readonly Arrival[],
  {
    before,
    hasOlder,
    bounds = BOUNDS,
  }: { before: number | undefined; hasOlder: boolean; bounds?: Bounds },
): KeptRows => {
  // Without `before` nothing was shown at the fetch: rows that have arrived since are newer, and above.
  if (before !== undefined && kept.shown.at(-1)?.row.seq !== before) return kept;
  const all = [...kept.shown, ...batch];
  // Somebody reads at the old end, so the newest rows are dropped. A jump to the top fetches them again.
  const fit = fitting([...all].reverse(), bounds);
  return {
    ...kept,
    shown: fit < all.length ? all.slice(all.length - fit) : all,
    isTorn: kept.isTorn || fit < all.length,
    hasOlder,
  };
};
