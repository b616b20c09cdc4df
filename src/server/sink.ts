import type { BatchResult } from '../interface/wire.js';
import type { Incoming } from './incoming.js';

/** What a sink has to know of those whose records it takes. All records of a call are of one sender. */
export interface Circumstances {
  /** Milliseconds since the epoch by which it has to answer. */
  until: number;
  /** The truncated address of the sender, if it is to be passed on. */
  address?: string | undefined;
}

/** Nothing was taken: the sender sends it again after this time. */
export interface Away {
  waitMs: number;
}

/** Where a server puts the records that it has checked: a store, a queue, or another service. */
export interface Sink {
  /** What becomes of a record that is taken, for the message of an answer: `Event stored`. */
  done: string;
  /** Answers one result a record, in their order, or that nothing was taken. Never rejects. */
  take(
    records: readonly Incoming[],
    circumstances: Circumstances,
  ): Promise<readonly BatchResult[] | Away>;
  /** A secret that all processes on this sink share, if it keeps one. */
  secret?(): Promise<string>;
  /** Milliseconds until it is worth reading a request; 0 if it is now. */
  waitMs(): number;
  /** Why records cannot be taken, if that is so. Anybody may ask as often as they like. */
  problem(): string | undefined | Promise<string | undefined>;
}
