import { setTimeout as pause } from 'node:timers/promises';

/** Fails when something takes longer: a browser that does not answer must not hold up the rest. */
export const limited = async <Value>(
  what: string,
  within: number,
  work: Promise<Value>,
): Promise<Value> => {
  const stopped = new AbortController();
  const late = pause(within, undefined, { signal: stopped.signal }).then(() => {
    throw new Error(`${what} took longer than ${within / 1_000} s`);
  });
  late.catch(() => undefined);
  work.catch(() => undefined);
  return Promise.race([work, late]).finally(() => stopped.abort());
};

const CLOSED_WITHIN_MS = 10_000;

/** Ends an engine, and this process if something of it stays. */
export const endEngine = async (engine: { close: () => Promise<void> }): Promise<void> => {
  await limited('the end of the engine', CLOSED_WITHIN_MS, engine.close()).catch(() => undefined);
};

/** Ends this process soon, even where a browser that was killed has left something open. */
export const endSoon = (): void => {
  setTimeout(() => process.exit(), CLOSED_WITHIN_MS).unref();
};
