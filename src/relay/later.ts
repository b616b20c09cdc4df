import type { BatchResult } from '../wire.js';

/** Milliseconds to wait for a record that another process is busy with, or for a store that fails. */
export const BUSY_MS = 2_000;

/** The record was not taken, and may come again. */
export const later = (id: string, waitMs: number, status = 0): BatchResult => ({
  id,
  outcome: 'retry',
  status,
  ...(waitMs > 0 && { retry_after: Math.ceil(waitMs / 1_000) }),
});

/** The service has spoken about the record. */
export const isFinal = ({ outcome }: Pick<BatchResult, 'outcome'>): boolean =>
  outcome === 'delivered' || outcome === 'rejected';
