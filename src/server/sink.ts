import type { BatchResult } from '../interface/wire.js';
import type { Incoming } from './incoming.js';

/** What a sink has to know about a call. All records of a call are of one sender. */
export interface Circumstances {
  /** The time by which it has to answer, in milliseconds since the epoch. */
  until: number;
  /** The truncated address of the sender, if it is to be passed on. */
  address?: string | undefined;
}

/** No record was taken. The sender sends all again after this time. */
export interface Away {
  waitMs: number;
}

/** Where a server puts the records that it has checked: a store, or another service. */
export interface Sink {
  /** What happens to a record that is taken, for the message of an answer: `Event stored`. */
  done: string;
  /** Returns a result for each record, in their order, or that none was taken. Never rejects. */
  take(
    records: readonly Incoming[],
    circumstances: Circumstances,
  ): Promise<readonly BatchResult[] | Away>;
  /** Milliseconds until it makes sense to read a request; 0 if it does now. */
  waitMs(): number;
  /** Why records cannot be taken, if they cannot. Cheap, since anybody may ask as often as they like. */
  problem(): string | undefined | Promise<string | undefined>;
}
