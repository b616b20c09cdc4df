import { isHidden } from './life.js';
import type { Settings } from './options.js';

/** The longest wait for an idle moment: a page that is always busy, such as a game, never has one. */
const IDLE_MS = 500;

/** Decides when the records of new calls are sent. Returns what is to be called after each call. */
export const createSchedule = (
  settings: () => Settings,
  flush: () => void,
  leave: (isCall: boolean) => void,
) => {
  /** Calls since the last flush. */
  let fresh = 0;
  let isComing = false;
  let isLeaving = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const flushNow = () => {
    isComing = false;
    clearTimeout(timer);
    fresh = 0;
    flush();
  };
  const flushSoon = () => {
    if (isComing) return;
    isComing = true;
    // Off the critical path of the page. Safari has no `requestIdleCallback`.
    if ('requestIdleCallback' in globalThis) requestIdleCallback(flushNow, { timeout: IDLE_MS });
    else setTimeout(flushNow);
  };

  return (): void => {
    if (!isHidden()) {
      if (++fresh === 1) timer = setTimeout(flushSoon, settings().flushInterval);
      if (fresh >= settings().flushAt) flushSoon();
      return;
    }
    flushSoon();
    if (isLeaving) return;
    isLeaving = true;
    queueMicrotask(() => {
      isLeaving = false;
      leave(true); // a hidden page may have no later moment
    });
  };
};
