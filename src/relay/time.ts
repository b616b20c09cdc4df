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

/** The longest delay of a timer. A longer one would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * The result of the work, or a rejection when it takes longer than `ms`. The work itself is not stopped, but
 * its result is ignored then.
 */
export const inTime = async <Result>(
  ms: number,
  work: () => Result | PromiseLike<Result>,
  name?: string,
): Promise<Result> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const fail = () => reject(new Error(`${name ? `${name}: ` : ''}no answer in time`));
    timer = setTimeout(fail, Math.min(Math.max(0, ms), LONGEST_MS));
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
};
