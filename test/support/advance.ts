import { vi } from 'vitest';
import { settle } from './settle.js';

/** Long enough for one timer not to overtake the storage work of another. */
const STEP_MS = 500;

/** Lets time pass, storage work between the timers included. */
export const advance = async (ms: number): Promise<void> => {
  await settle();
  for (let left = ms; left > 0; left -= STEP_MS) {
    await vi.advanceTimersByTimeAsync(Math.min(STEP_MS, left));
    await settle(20);
  }
  await settle();
};
