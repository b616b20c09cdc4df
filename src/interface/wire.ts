import type { RecordType } from './bodies.js';

/** Path of the batch operation, below the relay's address. */
export const BATCH_PATH = '/v1/batch';

/** Records a batch may hold at the most. */
export const MAX_BATCH_RECORDS = 100;

/** Records a page puts into a batch: so many make a request that a beacon carries, most of the time. */
export const BATCH_RECORDS = 50;

/** A record on its way to a relay. */
export interface BatchRecord {
  /** The record's id: a repeat carries the same one. */
  id: string;
  type: RecordType;
  /** What goes to the service, as the interface has it. */
  body: object;
}

/** Body of `POST {relay}/v1/batch`, as `application/json` or, from a beacon, `text/plain`. */
export interface Batch {
  /** Time of sending by the client's clock, ISO 8601; for statistics only. */
  sent_at: string;
  /** In the order of the calls. */
  records: BatchRecord[];
}

/**
 * What became of a record at the relay. `accepted`: it stands in the relay's queue, and the relay sees to
 * the rest. `retry` and `blocked` were not taken, and stay the client's: `retry` may pass soon, `blocked`
 * when a set-up is mended.
 */
export type RelayOutcome = 'delivered' | 'accepted' | 'retry' | 'blocked' | 'rejected';

export interface BatchResult {
  id: string;
  outcome: RelayOutcome;
  /** HTTP status of the service's answer; 0 where there was none, 409 where another process is busy with it. */
  status: number;
  /** Seconds to wait before it is sent again, where the service or the relay says so. */
  retry_after?: number;
  /**
   * With `blocked`, where the relay's lists lack this value of the record. Without it the service refuses
   * the relay, and will refuse all other records, too.
   */
  unlisted?: 'project' | 'channel';
}

/** Body of the answer, with status 200: one result a record, in the order of the records. */
export interface BatchAnswer {
  results: BatchResult[];
}
