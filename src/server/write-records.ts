import { messageOf } from '../interface/errors.js';
import { inTime } from '../interface/in-time.js';
import { createReportOnce } from './hooks.js';
import type { ServiceError, Tell } from './service-hooks.js';
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
  let failure: { message: string; at: number } | undefined;

  const failed = (message: string): void => {
    if (!failure) tell.metric('trouble', 1);
    trouble.tell({ kind: 'store', message });
    failure = { message, at: now() };
  };
  const worked = (): void => {
    if (failure) tell.metric('trouble', 0);
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
        failed(messageOf(error));
        throw error;
      }
    },
    /** Why no records are stored, if a write failed a moment ago. */
    problem: (): string | undefined =>
      failure && now() - failure.at < STALE_MS ? failure.message : undefined,
  };
};

export type WriteRecords = ReturnType<typeof createWriteRecords>;
