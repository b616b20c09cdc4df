interface Scheduler {
  postTask: (callback: () => void, options: { priority: 'background' }) => Promise<void>;
}

/** Longest wait for an idle moment, milliseconds. */
const IDLE_MS = 500;

type Way = (callback: () => void) => void;

/** The best one first. */
const WAYS: readonly Way[] = [
  (callback) => {
    const { scheduler } = globalThis as unknown as { scheduler: Scheduler };
    const posted: unknown = scheduler.postTask(callback, { priority: 'background' });
    // Not every `postTask` that a page puts in the browser's place gives a promise.
    Promise.resolve(posted).catch(() => undefined);
  },
  (callback) => void requestIdleCallback(callback, { timeout: IDLE_MS }),
  (callback) => void setTimeout(callback),
];

/** Runs something off the critical path of the page. */
export const inBackground = (callback: () => void): void => {
  for (const way of WAYS) {
    try {
      return way(callback);
    } catch {
      // the browser has no such function, or a script of the page has put a broken one in its place
    }
  }
};
