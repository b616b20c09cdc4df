import { mayFail } from '../util/may-fail.js';
import { later } from './later.js';
import { isFleeting, isGoing, isHidden } from './life.js';
import type { Settings } from './options.js';

/** The longest wait for an idle moment: a page that is always busy, such as a game, never has one. */
const IDLE_MS = 500;
const LATE_MS = 1_000;

/** Decides when the records of new calls are sent. Returns what is to be called after each call, and what ends it. */
export const createSchedule = (
  settings: () => Settings,
  flush: () => void,
  leave: (isCall: boolean) => void,
): [call: () => void, stop: () => void] => {
  /** Calls since the last flush; below 0 while the next one is on its way. */
  let fresh = 0;
  /** By this time a flush has come, or the page has swallowed the timer or callback that should have brought it. */
  let due = 0;
  /** Time of the last flush of a hidden page. */
  let sentAt = 0;
  let timer: number | undefined;

  const flushNow = () => {
    clearTimeout(timer);
    fresh = due = 0;
    if (isHidden()) sentAt = Date.now();
    flush();
  };
  const flushSoon = () => {
    if (fresh < 0) return;
    fresh = -Infinity;
    clearTimeout(timer);
    // Off the critical path of the page. Safari has no `requestIdleCallback`, and a page's own may never call.
    const isAsked = mayFail(() => !!requestIdleCallback(flushNow, { timeout: IDLE_MS }));
    timer = later(flushNow, isAsked ? LATE_MS : 0);
  };

  const call = () => {
    const { flushAt, flushInterval } = settings();
    const time = Date.now();
    if (time > due) {
      fresh = 0;
      due = time + flushInterval + 2 * LATE_MS;
    }
    // A hidden page may go on for hours. One that loads is left without a word in Safari.
    const isRested = !isHidden() || time - sentAt > flushInterval;
    const hurries = isFleeting() && fresh >= 0 && isRested;
    if (++fresh >= flushAt || hurries) flushSoon();
    else if (fresh === 1) timer = later(flushSoon, flushInterval);
    // In a microtask, so that it sees a `window.close()` after the call.
    queueMicrotask(() => {
      if (isGoing() || (hurries && isHidden())) leave(true);
    });
  };
  return [call, () => clearTimeout(timer)];
};
