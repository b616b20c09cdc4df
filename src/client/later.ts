import { attempt } from '../interface/attempt.js';

/** Calls after a time. Returns nothing if timers do not work. */
export const later = (work: () => unknown, ms: number): number | undefined =>
  attempt(() => setTimeout(work, ms) as unknown as number);
