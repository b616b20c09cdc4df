import type { DropReason, OutboxRecord } from '../types.js';
import type { Entry, Hold } from './entry.js';
import type { Notes } from './exit-note.js';
import type { Journal } from './journal.js';
import { LEASE_MS } from './lease.js';
import type { Queue } from './queue.js';

/** What the outbox needs from outside. */
export interface OutboxEffects {
  journal: Journal;
  notes: Notes;
  now: () => number;
  newId: () => string;
  limits: () => {
    maxRecords: number;
    maxBytes: number;
    maxAge: number;
    timeout: number;
    /** Who is asked tells repeats: what may have arrived is sent again. */
    resends: boolean;
  };
  onDrop: (record: OutboxRecord, reason: DropReason, message: string) => void;
  onUnknown: (record: OutboxRecord) => void;
}

/** What the parts of the outbox share. */
export interface Context extends OutboxEffects {
  queue: Queue;
  /** Owners whose records this page may send. */
  holds: Map<string, Hold>;
  /** Records in flight from here by their ids, whoever their owner is by now. */
  flying: Map<string, Entry>;
  /** Records about to be in flight, with whether that is stored. */
  announced: Map<Entry, { isStored: boolean }>;
}

/** No page's options make its leases longer than this. */
const LONGEST_LEASE_MS = 3_600_000;

export const keyOf = (owner: string, seq: number): string => `${owner} ${seq}`;

/** A lease outlasts any request started under it. */
export const leaseMs = ({ limits }: Context): number => Math.max(LEASE_MS, 2 * limits().timeout);

/** True while nobody else can send what this hold covers. */
export const isSafe = (context: Context, { leased, noted, until }: Hold): boolean => {
  const left = until - context.now();
  return !(leased || noted) || (left > context.limits().timeout && left <= leaseMs(context));
};

/** A lease that ends later than any can was written before the clock was set back. */
export const hasEnded = (context: Context, until: number): boolean => {
  const left = until - context.now();
  return left <= 0 || left > Math.max(leaseMs(context), LONGEST_LEASE_MS);
};
