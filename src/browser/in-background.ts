interface Scheduler {
  postTask?: (callback: () => void, options: { priority: 'background' }) => Promise<void>;
}

/** Longest wait for an idle moment, milliseconds. */
const IDLE_MS = 500;

/** Runs something off the critical path of the page. */
export const inBackground = (callback: () => void): void => {
  const { scheduler } = globalThis as { scheduler?: Scheduler };
  if (scheduler?.postTask) {
    scheduler.postTask(callback, { priority: 'background' }).catch(() => undefined);
  } else if (typeof requestIdleCallback === 'function') {
    requestIdleCallback(callback, { timeout: IDLE_MS });
  } else setTimeout(callback);
};
