import { inBackground } from './browser/in-background.js';
import { isHidden } from './browser/page-life.js';

interface Effects {
  settings: () => { flushAt: number; flushInterval: number };
  flush: () => void;
  leave: () => void;
}

/** Says when to send what has been called. */
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
    /** A record waits. Says whether it is the first since the last flush. */
    add: (): boolean => {
      if (isHidden()) {
        // There may be no later moment.
        if (!isLeaving) {
          queueMicrotask(() => {
            isLeaving = false;
            leave();
          });
        }
        isLeaving = true;
        flushSoon(); // should the page live on
      } else if (++fresh >= settings().flushAt) flushSoon();
      else if (fresh === 1) timer = setTimeout(flushSoon, settings().flushInterval);
      return fresh === 1;
    },
    stop: (): void => clearTimeout(timer),
  };
};
