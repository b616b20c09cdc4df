const called = new Set<unknown>();

/** Calls a function of the page, unless it is being called already: it would call itself without end. */
export const callOnce = <Args extends unknown[], Result>(
  work: (...args: Args) => Result,
  ...args: Args
): Result | undefined => {
  if (called.has(work)) return undefined;
  called.add(work);
  try {
    return work(...args);
  } finally {
    called.delete(work);
  }
};
