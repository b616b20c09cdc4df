import type { Store } from '../store/port.js';
import { createPause } from '../time.js';

/** The highest place that has a row. Unlike `lastPlace` it has none of rows that are being written. */
export const newestPlace = async (store: Pick<Store, 'rows'>): Promise<number> =>
  (await store.rows({}, { newest: true, limit: 1 }))[0]?.seq ?? 0;

/** Follows the rows of a store until the signal is aborted, for work that reads them and then waits for more. */
export const followRowNews = (store: Pick<Store, 'follow'>, signal: AbortSignal) => {
  let hasNews = false;
  const { pause, wake } = createPause();
  const endFollowing = store.follow(() => ring());
  signal.addEventListener('abort', () => {
    endFollowing();
    wake();
  });
  const ring = (): void => {
    hasNews = true;
    wake();
  };
  return {
    /** Ends the wait, or the next one, for another reason. */
    ring,
    /** Has to be called before rows are read: what comes from then on is news. */
    forget: (): void => void (hasNews = false),
    /** Waits until there are news, for this time at the most. */
    wait: async (ms: number): Promise<void> => {
      if (!hasNews && !signal.aborted) await pause(ms);
    },
  };
};
