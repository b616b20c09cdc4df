import type { DropReason, OutboxRecord } from '../types.js';
import type { Notes } from './exit-note.js';
import type { Journal } from './journal.js';
import type { Away, Line } from './line.js';
import { idOf, type Parcel } from './parcel.js';

/** How long a page holds a parcel, unless its requests may take longer than half of it. */
export const HOLD_MS = 60_000;

/** No page's options make it hold a parcel longer than this. */
export const LONGEST_HOLD_MS = 3_600_000;

/** What the outbox needs from outside. */
export interface OutboxEffects {
  journal: Journal;
  notes: Notes;
  now: () => number;
  newId: () => string;
  isHidden: () => boolean;
  limits: () => {
    maxRecords: number;
    maxBytes: number;
    maxAge: number;
    timeout: number;
    /** The receiver knows repeats: what may have arrived is sent again. */
    resends: boolean;
  };
  onDrop: (record: OutboxRecord, reason: DropReason, message: string) => void;
  onUnknown: (record: OutboxRecord) => void;
}

/** What the parts of the outbox share. */
export interface Context extends OutboxEffects {
  line: Line;
  away: Away;
  /** The life of this page: another one after each return from the back/forward cache. */
  holder: () => string;
  /**
   * Parcels that this page has let go, by their keys. Each keeps what this page alone knows: which of its records
   * are under way, and which have come to their end. That counts when the page claims the parcel again.
   */
  former: Map<string, Parcel>;
}

/** Nothing of this page waits in the database without a copy in memory, and other pages hold so many records. */
export const forgetAway = ({ away, former }: Context, others: number | undefined): void => {
  Object.assign(away, { count: 0, bytes: 0, others });
  // A parcel that stands in the database no more cannot be claimed again.
  if (!others) former.clear();
};

/** Time for which a page holds what it writes: longer than any request started meanwhile. */
export const holdMs = ({ limits }: Context): number => Math.max(HOLD_MS, 2 * limits().timeout);

/**
 * Whether a parcel held until then is anybody's at that time: its time is over, or ends later than any can,
 * because the clock was set back.
 */
export const isOver = (context: Context, until: number, time = context.now()): boolean =>
  until <= time || until - time > Math.max(holdMs(context), LONGEST_HOLD_MS);

/**
 * Whether a claim that began at that time may take it: it was anybody's then, and is now. The clock may have
 * been set since, or the page have stood still.
 */
export const isClaimable = (context: Context, until: number, began: number): boolean =>
  isOver(context, until, began) && isOver(context, until);

/** Whether this page holds the parcel for longer than a request takes. What is not stored is nobody else's. */
export const isSafe = (context: Context, { state, until }: Parcel): boolean =>
  state === 'new' ||
  state === 'tried' ||
  (state === 'stored' &&
    !isOver(context, until) &&
    until - context.now() > context.limits().timeout);

/**
 * Ids of a parcel's records that storage is told of, because a repeat would be stored twice: those that are in
 * flight, or about to be. What is tied to the page ends with it.
 */
export const flightOf = ({ limits }: Context, { entries }: Parcel): string[] =>
  limits().resends
    ? []
    : [...entries].filter(({ state }) => state !== 'waiting' && state !== 'tied').map(idOf);
