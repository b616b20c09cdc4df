/** Runs work that may fail, such as a call of the page or the browser; undefined if it does. */
export const mayFail = <T>(work: () => T): T | undefined => {
  try {
    return work();
  } catch {
    return undefined;
  }
};
