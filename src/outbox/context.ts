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
    idempotencyKey?: boolean;
  };
  onDrop: (record: OutboxRecord, reason: DropReason, message: string) => void;
  onUnknown: (record: OutboxRecord) => void;
}

/** What the parts of the outbox share. */
export interface Context extends OutboxEffects {
  /** This page, as leases name it. */
  page: string;
  queue: Queue;
  /** Owners whose records this page may send. */
  holds: Map<string, Hold>;
  /** Records in flight from here, whoever their owner is by now. */
  flying: Map<string, Entry>;
}

export const keyOf = (owner: string, seq: number): string => `${owner} ${seq}`;

/** A lease outlasts any request started under it. */
export const leaseMs = ({ limits }: Context): number => Math.max(LEASE_MS, 2 * limits().timeout);

/** True while nobody else can send what this hold covers. */
export const isSafe = ({ now, limits }: Context, { leased, noted, until }: Hold): boolean =>
  !(leased || noted) || until - now() > limits().timeout;
