import { messageOf } from '../interface/errors.js';
import { inTime } from '../interface/in-time.js';
import { createReportOnce } from '../relay/hooks.js';
import type { ServiceError, Tell } from './hooks.js';
import type { Setup } from './setup.js';
import type { Incoming, Store, Written } from './store/port.js';

/** How long a write may take until the client is asked to send again. */
const PATIENCE_MS = 15_000;
/** After so long without a write nobody knows whether the database would take one. */
const STALE_MS = 10_000;

interface Parts {
  store: Pick<Store, 'write'>;
  setup: Pick<Setup, 'note'>;
  tell: Tell;
  now: () => number;
}

/** Writes records, and knows whether the database works. */
export const createWriteRecords = ({ store, setup, tell, now }: Parts) => {
  const trouble = createReportOnce<ServiceError>(tell, now);
  let isFailing = false;
  let failure: { message: string; at: number } | undefined;

  const failed = (error: unknown): void => {
    const message = messageOf(error);
    if (!isFailing) tell.metric('trouble', 1);
    isFailing = true;
    trouble.tell({ kind: 'store', message });
  };
  const worked = (): void => {
    if (isFailing) tell.metric('trouble', 0);
    isFailing = false;
    trouble.healed();
    failure = undefined;
  };

  return {
    /** Rejects where the database does not work. */
    write: async (records: readonly Incoming[]): Promise<Written[]> => {
      const at = now();
      try {
        const written = await inTime(store.write(records), PATIENCE_MS);
        worked();
        tell.metric('store_ms', now() - at);
        for (const { outcome } of written) tell.metric('records', 1, { outcome });
        if (written.some(({ outcome }) => outcome === 'stored')) setup.note('stored');
        return written;
      } catch (error) {
        failed(error);
        failure = { message: messageOf(error), at: now() };
        throw error;
      }
    },
    /** Tells of reading that failed. Records may be stored all the same: a search can take too long. */
    failed,
    /** Why no records are stored, if a write failed a moment ago. */
    problem: (): string | undefined =>
      failure && now() - failure.at < STALE_MS ? failure.message : undefined,
  };
};

export type WriteRecords = ReturnType<typeof createWriteRecords>;
