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
