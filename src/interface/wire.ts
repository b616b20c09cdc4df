import type { RecordType } from './bodies.js';

/** Path of the batch operation, below the relay's address. */
export const BATCH_PATH = '/v1/batch';

/**
 * The header by which a server that passes on what browsers have called says so, as `browser`. Whatever else comes by
 * token without the origin of a page is taken for a record that never was in a browser.
 */
export const RECORD_FROM = 'x-record-from';

/** A relay takes at most this many records in a batch. */
export const MAX_BATCH_RECORDS = 100;

/** A page puts at most this many records into a batch. Most of the time a beacon can carry that. */
export const BATCH_RECORDS = 50;

/** A record on its way to a relay. */
export interface BatchRecord {
  /** The record's id: a repeat carries the same one. */
  id: string;
  type: RecordType;
  /** The body that goes to the service. */
  body: object;
  /**
   * The time of the call by the client's clock, milliseconds since the epoch. An event's body has it as `timestamp`;
   * that of an identify has no place for it.
   */
  called_at?: number;
}

/** Body of `POST {relay}/v1/batch`, as `application/json` or, from a beacon, `text/plain`. */
export interface Batch {
  /** Time of sending by the client's clock, ISO 8601; for statistics only. */
  sent_at: string;
  /** In the order of the calls. */
  records: BatchRecord[];
}

/**
 * What became of a record at the relay. `accepted`: its sender is ignored, so it is kept nowhere. A record with `retry`
 * or `blocked` was not taken, so the client keeps it: `retry` may pass soon, `blocked` perhaps only after somebody has
 * corrected the set-up.
 */
export type RelayOutcome = 'delivered' | 'accepted' | 'retry' | 'blocked' | 'rejected';

export interface BatchResult {
  id: string;
  outcome: RelayOutcome;
  /** HTTP status of the service's answer, or of the refusal; 0 if there was none. */
  status: number;
  /** Seconds to wait before the record is sent again, if the service or the relay asks for a wait. */
  retry_after?: number;
  /**
   * Given with `retry` or `blocked` if the relay has not sent this record: others before it failed, or there was no room.
   */
  untried?: true;
  /**
   * Given with `blocked` if this value of the record is not in the relay's lists. A `blocked` without
   * `unlisted` means that the service refuses the relay itself, and so all other records as well.
   */
  unlisted?: 'project' | 'channel';
  /** The field that is wrong, if the relay itself refuses the record. */
  field?: string;
  /** Why the record was not taken, in words of the relay or the service, 200 characters at the most. */
  message?: string;
}

/** Body of the answer, with status 200: one result for each record, in their order. */
export interface BatchAnswer {
  results: BatchResult[];
}
