import { inBackground } from './browser/in-background.js';
import { isHidden } from './browser/page-life.js';

interface Effects {
  settings: () => { flushAt: number; flushInterval: number };
  flush: () => void;
  leave: () => void;
}

/** Decides when to send the records of new calls. */
export const createSchedule = ({ settings, flush, leave }: Effects) => {
  /** Calls since the last flush. */
  let fresh = 0;
  let isLeaving = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const flushSoon = (): void => {
    clearTimeout(timer);
    fresh = 0;
    inBackground(flush);
  };

  return {
    /** There is one more record. True where it is the first since the last flush. */
    add: (): boolean => {
      if (isHidden()) {
        // A hidden page may have no later moment.
        if (!isLeaving) {
          queueMicrotask(() => {
            isLeaving = false;
            leave();
          });
        }
        isLeaving = true;
        flushSoon(); // in case the page lives on
      } else if (++fresh >= settings().flushAt) flushSoon();
      else if (fresh === 1) timer = setTimeout(flushSoon, settings().flushInterval);
      return fresh === 1;
    },
    stop: (): void => clearTimeout(timer),
  };
};
