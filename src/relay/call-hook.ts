/**
 * Calls a function that only wants to hear something. It may throw, and an `async` one may reject: on Node
 * a rejection that nobody handles ends the process.
 */
export const callHook = (hook: () => unknown, failed: (error: unknown) => void): void => {
  try {
    const result = hook();
    if (result !== undefined) Promise.resolve(result).catch(failed);
  } catch (error) {
    failed(error);
  }
};
