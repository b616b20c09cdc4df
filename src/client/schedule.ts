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
  /** A flush has been scheduled in the background, and will take all calls made until it runs. */
  let isComing = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const flushSoon = (): void => {
    if (isComing) return;
    isComing = true;
    inBackground(() => {
      isComing = false;
      clearTimeout(timer);
      fresh = 0;
      flush();
    });
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
        return false;
      }
      if (++fresh === 1) timer = setTimeout(flushSoon, settings().flushInterval);
      if (fresh >= settings().flushAt) flushSoon();
      return fresh === 1;
    },
    stop: (): void => clearTimeout(timer),
  };
};
