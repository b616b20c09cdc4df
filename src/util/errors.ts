import { mayFail } from './may-fail.js';

/** Turns anything thrown into words, and cannot throw itself: an object may have a `toString` that throws. */
export const messageOf = (error: unknown): string =>
  mayFail(() => String((error as Error | undefined)?.message ?? error)) ?? 'unknown error';
