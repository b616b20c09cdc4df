/**
 * Milliseconds since the epoch as the machine had them when the process began, counted on evenly from there. So a wait
 * lasts as long as it should when somebody sets the machine's time. For times that are stored or shown, there is
 * `Date.now`.
 */
export const monotonicNow = (): number => performance.timeOrigin + performance.now();

/** A wait that nothing can cut short, not even the end of the process's work. */
export const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

/** Waits that can be ended early, all at once. */
export const createPause = () => {
  const waiting = new Set<() => void>();
  return {
    wait: (ms: number): Promise<void> =>
      new Promise((resolve) => {
        const end = () => {
          clearTimeout(timer);
          waiting.delete(end);
          resolve();
        };
        const timer = setTimeout(end, ms);
        waiting.add(end);
      }),
    endAll: (): void => waiting.forEach((end) => end()),
  };
};
