/** A shorter wait of the client only brings things together. A longer one is for what a test does not wait for. */
const SHORT_MS = 1_000;

const waiting = new Set<number>();
let made = 0;

/**
 * What the client has in place of the global `setTimeout` in an instance for tests: a short wait is over at once, a long
 * one never ends. So nothing keeps a process alive, or waits for a test's own clock.
 */
export const setTimeout = <Args extends unknown[]>(
  work: (...args: Args) => void,
  ms = 0,
  ...args: Args
): number => {
  const id = ++made;
  if (ms < SHORT_MS) {
    waiting.add(id);
    void Promise.resolve().then(() => waiting.delete(id) && work(...args));
  }
  return id;
};

export const clearTimeout = (id: number): void => void waiting.delete(id);
