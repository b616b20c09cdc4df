/**
 * Settles when the program is told to stop. It goes on listening for signals, since a terminal and `npx` may both send
 * one, and a signal without a listener ends the process.
 */
export const untilStopped = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => resolve());
  });

/** Waits for the work, at most for this time. Returns whether the work took longer. */
export const within = async (ms: number, work: Promise<unknown>): Promise<boolean> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, ms, true)));
  const isLate = await Promise.race([work.then(() => false), late]);
  clearTimeout(timer);
  return isLate;
};

/** Listens for signals, until the returned function is called. */
export const onSignals = (
  listeners: Readonly<Partial<Record<NodeJS.Signals, () => void>>>,
): (() => void) => {
  const pairs = Object.entries(listeners);
  for (const [signal, listener] of pairs) process.on(signal, listener);
  return () => pairs.forEach(([signal, listener]) => process.off(signal, listener));
};
