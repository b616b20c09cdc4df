/**
 * Milliseconds since the epoch as the machine had them when the process began, counted on evenly from there. So a wait
 * lasts as long as it should when somebody sets the machine's time. For times that are stored or shown, there is
 * `Date.now`.
 */
export const monotonicNow = (): number => performance.timeOrigin + performance.now();

export const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));
