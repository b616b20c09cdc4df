import { isFleeting, isGoing, isHidden } from './life.js';
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
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** When a page that may go without a word last sent what was called. */
  let sentAt = 0;

  const flushNow = () => {
    isComing = false;
    clearTimeout(timer);
    fresh = 0;
    if (isFleeting()) sentAt = Date.now();
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
    const { flushAt, flushInterval } = settings();
    const hurries = isFleeting() && !isComing && Date.now() - sentAt > flushInterval;
    if (++fresh >= flushAt || hurries) flushSoon();
    else if (fresh === 1) timer = setTimeout(flushSoon, flushInterval);
    // In a microtask, so that it sees a `window.close()` after the call.
    queueMicrotask(() => {
      if (isGoing() || (hurries && isHidden())) leave(true);
    });
  };
};
