/** The longest a timer can run: with more it would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * What the work comes to, or a rejection where it has not settled after `ms`. The work itself goes on, and
 * nobody hears any more what it comes to.
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
