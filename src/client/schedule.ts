import { attempt } from '../interface/attempt.js';
import { isHidden } from './life.js';
import { later } from './later.js';
import type { Settings } from './options.js';

/** The longest wait for an idle moment: a page that is always busy, such as a game, never has one. */
const IDLE_MS = 500;
const LATE_MS = 1_000;

/** Decides when the records of new calls are sent. Returns what is to be called after each call. */
export const createSchedule = (
  settings: () => Settings,
  flush: () => void,
  leave: (isCall: boolean) => void,
) => {
  /** Calls since the last flush; below 0 while one is coming. */
  let fresh = 0;
  /** By then a flush has come, or the page has swallowed what should have brought it. */
  let due = 0;
  let isLeaving = false;
  let timer: number | undefined;

  const flushNow = () => {
    clearTimeout(timer);
    fresh = due = 0;
    flush();
  };
  const flushSoon = () => {
    if (fresh < 0) return;
    fresh = -Infinity;
    clearTimeout(timer);
    // Off the critical path of the page. Safari has no `requestIdleCallback`, and a page's own may never call.
    const isAsked = attempt(() => !!requestIdleCallback(flushNow, { timeout: IDLE_MS }));
    timer = later(flushNow, isAsked ? LATE_MS : 0);
  };

  return (): void => {
    const time = Date.now();
    if (time > due) {
      fresh = 0;
      due = time + settings().flushInterval + 2 * LATE_MS;
    }
    if (!isHidden()) {
      if (++fresh === 1) timer = later(flushSoon, settings().flushInterval);
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
