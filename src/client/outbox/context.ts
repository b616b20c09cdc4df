import type { DropReason, OutboxRecord } from '../types.js';
import type { Notes } from './exit-note.js';
import type { Journal } from './journal.js';
import type { Line } from './line.js';
import { idOf, type Parcel } from './parcel.js';

/** A page holds a parcel for this long, or for twice the `timeout` of a request if that is longer. */
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
    /** The receiver knows repeats, so a record that may have arrived is sent again. */
    resends: boolean;
  };
  onDrop: (record: OutboxRecord, reason: DropReason, message: string) => void;
  onUnknown: (record: OutboxRecord) => void;
}

/** The records that wait in the database without a copy in memory. */
interface Away {
  count: number;
  bytes: number;
  /** How many records other pages hold, as of the last look. */
  others?: number;
}

/** What the parts of the outbox share. */
export interface Context extends OutboxEffects {
  line: Line;
  away: Away;
  /** The id of this life of the page. It begins another one after each return from the back/forward cache. */
  holder: () => string;
  /**
   * The parcels that this page has let go, by the names of their keys. Only this page knows which of their records
   * are under way or have come to their end, and it needs to know if it claims the parcel again.
   */
  former: Map<string, Parcel>;
}

/** Nothing waits in the database but what is in memory, too, and as many records of other pages as are given here. */
export const forgetAway = ({ away, former }: Context, others: number | undefined): void => {
  Object.assign(away, { count: 0, bytes: 0, others });
  // Without records of other pages there, a parcel that was let go is not there either, and cannot be claimed again.
  if (!others) former.clear();
};

/** How long a page holds what it writes: longer than a request takes that is started meanwhile. */
export const holdMs = ({ limits }: Context): number => Math.max(HOLD_MS, 2 * limits().timeout);

/**
 * Whether anybody may take a parcel that is held until a time: that time is over, or it is later than any page
 * holds a parcel, since the clock was set back.
 */
export const isOver = (context: Context, until: number, time = context.now()): boolean =>
  until <= time || until - time > Math.max(holdMs(context), LONGEST_HOLD_MS);

/**
 * Whether a claim may take the parcel: anybody may take it now, and could when the claim began. In between the
 * clock may have been set, or the page may have been frozen.
 */
export const isClaimable = (context: Context, until: number, began: number): boolean =>
  isOver(context, until, began) && isOver(context, until);

/** Whether no other page can claim the parcel before a request that starts now has ended. */
export const isSafe = (context: Context, { state, until }: Parcel): boolean =>
  state === 'new' ||
  state === 'tried' ||
  (state === 'stored' &&
    !isOver(context, until) &&
    until - context.now() > context.limits().timeout);

/**
 * The ids of the records that a stored parcel names as in flight, or about to be, because the service would store
 * a repeat as another record. A request that is tied to the page ends with it, so its record is not named.
 */
export const flightOf = ({ limits }: Context, { entries }: Parcel): string[] =>
  limits().resends
    ? []
    : [...entries].filter(({ state }) => state !== 'waiting' && state !== 'tied').map(idOf);
