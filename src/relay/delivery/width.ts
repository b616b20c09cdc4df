/** Requests at a time toward a service that has not answered yet. */
const START = 4;

/**
 * How many requests the service is asked at a time. There are few at first; each success makes room for
 * one more, so they double with every round of answers, up to `most`. A failure brings the number back to
 * where it began. So a service that starts to refuse meets few requests, not a whole batch.
 */
export const createWidth = (most: number) => {
  const start = Math.min(START, most);
  let width = start;
  /** Failures since the last success. Each leaves its place empty. */
  let failures = 0;

  return {
    /** Whether one more may go beside those that are under way. */
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
