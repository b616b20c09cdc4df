import type { BatchRecord, BatchResult } from '../../interface/wire.js';
import type { Sighting } from './ports.js';

/**
 * The key of a record: an id belongs to one type of one project, so the same id in another type or project is
 * another record. Neither type nor id can hold a colon.
 */
export const recordKeyOf = ({ id, type, body }: BatchRecord): string =>
  `${type}:${id}:${String((body as { project?: unknown }).project)}`;

/**
 * The line in which a record stands: that of one user of one project, as one client tells of it. Identifies of a line
 * keep their order, and events come after the identifies before them. A record without a user, or with an empty one,
 * stands in no line.
 */
export const lineOf = ({ body, client = '' }: BatchRecord & { client?: string }): string => {
  const { project, user_id: user } = body as { project?: unknown; user_id?: unknown };
  return user ? JSON.stringify([client, project, user]) : '';
};

/** How long to wait for a store or a queue that fails, in milliseconds. */
export const DOWN_MS = 2_000;

/** The result of a record that was not accepted and may be sent again. */
export const retryLater = (id: string, waitMs: number, status = 0): BatchResult => ({
  id,
  outcome: 'retry',
  status,
  ...(waitMs > 0 && { retry_after: Math.ceil(waitMs / 1_000) }),
});

/** Marks the result of a record that was not sent. It has not failed, so it does not wait for longer. */
export const untried = (result: BatchResult): BatchResult => ({ ...result, untried: true });

/**
 * The result of a record that could not be claimed. When another process is sending it, the result has status
 * 409 and no wait: a page would take a wait, or status 0, for trouble of the whole relay.
 */
export const unclaimed = (id: string, sighting: Sighting | undefined): BatchResult =>
  sighting?.state === 'begun' ? retryLater(id, 0, 409) : untried(retryLater(id, DOWN_MS));

/** Whether the service has decided about the record. */
export const isFinal = ({ outcome }: Pick<BatchResult, 'outcome'>): boolean =>
  outcome === 'delivered' || outcome === 'rejected';
