/** Requests at a time to a service that has not answered yet. */
const START = 4;

/**
 * Decides how many requests are under way at a time. It begins with few. Each success makes room for one
 * more, so the number doubles with every round of answers, up to `most`. A failure brings it back to the
 * start. So a service that begins to refuse gets a few requests, not a whole batch.
 */
export const createWidth = (most: number) => {
  const start = Math.min(START, most);
  let width = start;
  /** Failures since the last success. A failed request is not replaced by another one. */
  let failures = 0;

  return {
    /** Whether one more request may start beside those that are under way. */
    allows: (underWay: number): boolean => {
      if (underWay > 0) return underWay + failures < width;
      width = start; // how the service was before it had nothing to do says little about now
      return true;
    },
    passed: (): void => {
      failures = 0;
      width = Math.min(most, width + 1);
    },
    failed: (): void => {
      failures++;
      width = start;
    },
  };
};
