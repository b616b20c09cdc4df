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
