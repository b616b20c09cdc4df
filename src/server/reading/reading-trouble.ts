import { messageOf } from '../../util/errors.js';
import { createReportOnce, type Tell } from '../hooks.js';

/**
 * Reports to the operator when reading from the store fails, and when it works again. Failing writes are reported
 * separately, since records can be stored while a search takes too long.
 */
export const createReadingTrouble = (tell: Tell, now: () => number) => {
  const trouble = createReportOnce(tell, now);
  return {
    worked: trouble.healed,
    /** `request`: its method and path. */
    failed: (request: string, error: unknown): void =>
      trouble.tell({ kind: 'reading', message: `${request} failed: ${messageOf(error)}` }),
  };
};

export type ReadingTrouble = ReturnType<typeof createReadingTrouble>;
