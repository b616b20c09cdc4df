import { inBackground } from './browser/in-background.js';
import { isHidden } from './browser/page-life.js';

interface Effects {
  settings: () => { flushAt: number; flushInterval: number };
  flush: () => void;
  leave: () => void;
}

/** Defers work. Asking again before it is done changes nothing. */
const once = (defer: (work: () => void) => void, work: () => void): (() => void) => {
  let isComing = false;
  return () => {
    if (isComing) return;
    isComing = true;
    defer(() => {
      isComing = false;
      work();
    });
  };
};

/** Decides when to send the records of new calls. */
export const createSchedule = ({ settings, flush, leave }: Effects) => {
  /** Calls since the last flush. */
  let fresh = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const flushSoon = once(inBackground, () => {
    clearTimeout(timer);
    fresh = 0;
    flush();
  });
  const leaveSoon = once((work) => queueMicrotask(work), leave);

  return {
    /** Counts a new record. Returns true if it is the first since the last flush. */
    add: (): boolean => {
      if (isHidden()) {
        leaveSoon(); // a hidden page may have no later moment
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
