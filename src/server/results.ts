import type { BatchResult } from '../interface/wire.js';

/** The result of a record that was not taken and may be sent again. */
export const retryLater = (id: string, waitMs: number, status = 0): BatchResult => ({
  id,
  outcome: 'retry',
  status,
  ...(waitMs > 0 && { retry_after: Math.ceil(waitMs / 1_000) }),
});

/** Marks the result of a record that was not sent. It has not failed, so its next wait is no longer. */
export const untried = (result: BatchResult): BatchResult => ({ ...result, untried: true });

/** Whether the service has decided about the record. */
export const isFinal = ({ outcome }: Pick<BatchResult, 'outcome'>): boolean =>
  outcome === 'delivered' || outcome === 'rejected';
