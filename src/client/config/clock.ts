/** The latest time that a `Date` can have. */
const LAST_TIME = 8.64e15;

/** The time by the clock that was passed in; by the client's own if there is none, or if it fails. */
export const readClock = (now: (() => number) | undefined): number => {
  try {
    const time = now?.();
    if (typeof time === 'number' && Math.abs(time) <= LAST_TIME) return time;
  } catch {
    // The page's function threw.
  }
  return new Date().getTime(); // a page's `Date.now` may give anything
};
