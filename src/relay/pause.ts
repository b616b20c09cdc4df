/** Waits in any case, also while a process is about to end. */
export const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

/** Waits that can be cut short, all together. */
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
