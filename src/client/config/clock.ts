/** The last time that a date can have. */
const LAST_TIME = 8.64e15;

/** The clock that was passed in, or the client's where it fails. */
export const readClock = (now: (() => number) | undefined): number => {
  try {
    const time = now?.();
    if (typeof time === 'number' && Math.abs(time) <= LAST_TIME) return time;
  } catch {
    // the page's function
  }
  return new Date().getTime(); // a page's `Date.now` may give anything
};
