import { mayFail } from '../util/may-fail.js';

/** Calls after a time. Returns nothing if timers do not work. */
export const later = (work: () => unknown, ms: number): number | undefined =>
  mayFail(() => setTimeout(work, ms) as unknown as number);
