import { messageOf } from '../../interface/errors.js';
import { createReportOnce } from '../../relay/hooks.js';
import type { ServiceError, Tell } from '../hooks.js';

/**
 * Tells the operator when the store fails those who read, and when it answers again. It is a trouble of its own: while
 * a search takes too long, records are stored all the same.
 */
export const createReadingTrouble = (tell: Tell, now: () => number) => {
  const trouble = createReportOnce<ServiceError>(tell, now);
  return {
    worked: trouble.healed,
    /** `request`: its method and path. */
    failed: (request: string, error: unknown): void =>
      trouble.tell({ kind: 'reading', message: `${request} failed: ${messageOf(error)}` }),
  };
};

export type ReadingTrouble = ReturnType<typeof createReadingTrouble>;
