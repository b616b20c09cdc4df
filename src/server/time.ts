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

/** Waits for some time. Rejects as soon as the signal is aborted. */
export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      if (signal?.aborted) reject(signal.reason as Error);
      else resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
