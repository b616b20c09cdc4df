import { vi } from 'vitest';

/** Turns of the event loop in which promises, bodies and the database get to their ends. */
const TURNS = 25;

/** Lets everything end that does not wait for a timer. The database and promises know nothing of the faked time. */
export const settle = async (): Promise<void> => {
  for (let i = 0; i < TURNS; i++) await new Promise((done) => setImmediate(done));
};

/** From now on timers and dates wait for `pass`, and what else is named. */
export const fakeTime = (...more: ('setInterval' | 'clearInterval')[]): void => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance', ...more] });
  const { setTimeout } = globalThis;
  // A faked timer of half a millisecond rings at once: what waits for that moment would ask again without end.
  const patient = (work: () => void, ms = 0, ...rest: []) =>
    setTimeout(work, Math.ceil(ms), ...rest);
  // With the marks of the faked one, by which the real one comes back.
  globalThis.setTimeout = Object.assign(patient, setTimeout) as typeof setTimeout;
};

/** Lets time pass from timer to timer, until it is so. Answers with whether it is. */
const passTimers = async (ms: number, isSo: () => unknown): Promise<boolean> => {
  let isOver = false;
  const end = setTimeout(() => (isOver = true), ms);
  await settle();
  while (!isOver && !isSo()) {
    vi.advanceTimersToNextTimer();
    await settle();
  }
  clearTimeout(end);
  return !!isSo();
};

/** Lets time pass. An hour takes as long as what happens in it. */
export const pass = async (ms: number): Promise<void> => void (await passTimers(ms, () => false));

/** Lets time pass until it is so. Fails if that takes longer than `within` milliseconds. */
export const passUntil = async (isSo: () => unknown, within = 20_000): Promise<void> => {
  if (!(await passTimers(within, isSo))) throw new Error(`not so within ${within} ms: ${isSo}`);
};
