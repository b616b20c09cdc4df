/** The clock that was passed in, or the client's where it fails. */
export const readClock = (now: (() => number) | undefined): number => {
  try {
    const time = now?.();
    if (Number.isFinite(time)) return time as number;
  } catch {
    // the page's function
  }
  return new Date().getTime(); // a page's `Date.now` may give anything
};
