import { setTimeout as pause } from 'node:timers/promises';

const POLL_MS = 50;

/** Asks again and again until the answer is yes. False when `within` milliseconds went by first. */
export const until = async (
  isSo: () => boolean | Promise<boolean>,
  { within }: { within: number },
): Promise<boolean> => {
  const deadline = performance.now() + within;
  while (!(await isSo())) {
    if (performance.now() > deadline) return false;
    await pause(POLL_MS);
  }
  return true;
};

/** Tries again and again until it succeeds. Fails with the last failure after `within` milliseconds. */
export const untilDone = async <Value>(
  attempt: () => Promise<Value>,
  { within }: { within: number },
): Promise<Value> => {
  let done: { value: Value } | undefined;
  let problem: unknown;
  const isDone = await until(
    async () => {
      try {
        done = { value: await attempt() };
      } catch (error) {
        problem = error;
      }
      return done !== undefined;
    },
    { within },
  );
  if (!isDone) throw problem;
  return done!.value;
};

/** Waits until a value has stayed the same for `quietFor` milliseconds. False after `within`. */
export const untilQuiet = async (
  read: () => Promise<unknown>,
  { quietFor, within }: { quietFor: number; within: number },
): Promise<boolean> => {
  let last = await read();
  let since = performance.now();
  return until(
    async () => {
      const value = await read();
      if (value !== last) since = performance.now();
      last = value;
      return performance.now() - since >= quietFor;
    },
    { within },
  );
};
