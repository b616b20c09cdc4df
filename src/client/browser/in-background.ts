interface Scheduler {
  postTask?: (callback: () => void, options: { priority: 'background' }) => unknown;
}

/** Longest wait for an idle moment, milliseconds. */
const IDLE_MS = 500;

/**
 * Runs something off the critical path of the page. A page that is always busy, such as a game, never comes to
 * its background tasks, and a script of the page may have put anything in the place of `postTask`: so a timeout
 * runs it if nothing else has.
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
    setTimeout(run); // Safari has neither
  }
};
