/** Timers that fake-indexeddb does not need: it runs on `setImmediate`. */
export const FAKED = [
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'Date',
] as const;

/** Lets everything run that waits for no timer: promises and IndexedDB. */
export const settle = async (rounds = 60): Promise<void> => {
  for (let i = 0; i < rounds; i++) await new Promise((resolve) => setImmediate(resolve));
};
