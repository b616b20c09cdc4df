/**
 * Milliseconds since the epoch, by a clock that goes on evenly when somebody sets the time of the machine. For waits
 * only: use `Date.now` for times that are stored or shown.
 */
export const monotonicNow = (): number => performance.timeOrigin + performance.now();

/** A wait that can be cut short by `wake`. Only one at a time. */
export const createPause = () => {
  let wake = (): void => {};
  return {
    /** `keepsAlive`: whether a process of Node waits for it before it ends. */
    pause: (ms: number, { keepsAlive = true } = {}): Promise<void> =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, ms);
        if (!keepsAlive) (timer as { unref?: () => void }).unref?.();
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      }),
    wake: (): void => wake(),
  };
};

export const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));
