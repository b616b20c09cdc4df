/** Calls a function of the page in a task of its own, so that what it throws is the page's error. */
export const callBack = (callback: unknown, ...args: unknown[]): void => {
  if (typeof callback === 'function') setTimeout(callback as () => void, 0, ...args);
};
