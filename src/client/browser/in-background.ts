interface Scheduler {
  postTask?: (callback: () => void, options: { priority: 'background' }) => unknown;
}

/** The longest wait for an idle moment. */
const IDLE_MS = 500;

/**
 * Runs the callback off the critical path of the page. A timeout runs it if nothing else has: a page that is always
 * busy, such as a game, never comes to its background tasks, and a script of the page may have replaced `postTask`.
 */
export const inBackground = (callback: () => void): void => {
  let isDone = false;
  const run = () => {
    if (isDone) return;
    isDone = true;
    clearTimeout(timer);
    callback();
  };
  const timer = setTimeout(run, IDLE_MS);
  try {
    const { scheduler } = globalThis as { scheduler?: Scheduler };
    if (scheduler?.postTask) {
      Promise.resolve(scheduler.postTask(run, { priority: 'background' })).catch(() => undefined);
    } else requestIdleCallback(run);
  } catch {
    setTimeout(run); // Safari has no `requestIdleCallback` and, in older versions, no `postTask`
  }
};
