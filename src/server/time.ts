/**
 * Milliseconds since the epoch, by a clock that goes on evenly when somebody sets the time of the machine. For waits
 * only: use `Date.now` for times that are stored or shown.
 */
export const monotonicNow = (): number => performance.timeOrigin + performance.now();

export const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));
