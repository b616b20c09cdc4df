import type { BatchResult } from '../../interface/wire.js';
import type { Sighting } from './ports.js';

/** Milliseconds to wait for a store or a queue that fails. */
export const DOWN_MS = 2_000;

/** The record was not taken, and may come again. */
export const later = (id: string, waitMs: number, status = 0): BatchResult => ({
  id,
  outcome: 'retry',
  status,
  ...(waitMs > 0 && { retry_after: Math.ceil(waitMs / 1_000) }),
});

/**
 * The record could not be claimed. Where another process is busy with it: with a status and
 * without a wait, since a page takes a wait, or no answer, for trouble of the whole destination.
 */
export const unclaimed = (id: string, sighting: Sighting | undefined): BatchResult =>
  sighting?.state === 'begun' ? later(id, 0, 409) : later(id, DOWN_MS);

/** The service has spoken about the record. */
export const isFinal = ({ outcome }: Pick<BatchResult, 'outcome'>): boolean =>
  outcome === 'delivered' || outcome === 'rejected';
