import { createReportOnce, type Tell } from './hooks.js';
import type { Store } from './store/port.js';

/** How often it is measured how far the sums and the profiles are behind the rows. */
const MEASURE_MS = 10_000;

interface Parts {
  store: Pick<Store, 'behind'>;
  tell: Tell;
  now: () => number;
}

/**
 * Measures how far the sums and the profiles are behind, and reports what keeps them there, until the returned function
 * is called.
 */
export const startMeasuring = ({ store, tell, now }: Parts): (() => void) => {
  const troubles = { sums: createReportOnce(tell, now), profiles: createReportOnce(tell, now) };
  const measure = async (): Promise<void> => {
    for (const { reader, rows, problem } of await store.behind()) {
      tell.metric('reader_behind', rows, { reader });
      if (problem === undefined) troubles[reader].healed();
      else
        troubles[reader].tell({ kind: 'store', message: `the ${reader} stand still: ${problem}` });
    }
  };
  // If the database is away, writes report it.
  const timer = setInterval(() => void measure().catch(() => {}), MEASURE_MS);
  // On Node it keeps no process alive.
  (timer as { unref?: () => void }).unref?.();
  return () => clearInterval(timer);
};
