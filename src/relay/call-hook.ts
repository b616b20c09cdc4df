/**
 * Calls a function of the operator's whose result does not matter. It may throw or reject; on Node an
 * unhandled rejection would end the process.
 */
export const callHook = (hook: () => unknown, failed: (error: unknown) => void): void => {
  try {
    const result = hook();
    if (result !== undefined) Promise.resolve(result).catch(failed);
  } catch (error) {
    failed(error);
  }
};
