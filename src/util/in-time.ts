/** How long answers that are already there get their turn; see `inTime`. */
const GRACE_MS = 100;

/**
 * Settles as the work does, or rejects if the work takes longer than `ms`. The time ends in two steps. While a page
 * stands still (an open dialog, a busy script), its timers become due and answers queue up. When the page goes on, the
 * timer runs first. The second step gives the answers their turn.
 */
export const inTime = async <Result>(
  work: Result | PromiseLike<Result>,
  ms: number,
): Promise<Result> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      timer = setTimeout(reject, GRACE_MS, new Error('no answer in time'));
    }, ms - GRACE_MS);
  });
  // Not `finally` of the promise: a page's own `Promise` may have none (zone.js up to 0.8.20).
  try {
    return await Promise.race([work, end]);
  } finally {
    clearTimeout(timer);
  }
};
