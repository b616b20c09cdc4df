import { messageOf } from '../../interface/errors.js';

/** Why a request had no answer. `fetch` says no more than that it failed; what stands behind it says why. */
export const causeOf = (error: unknown): string => {
  const causes: string[] = [];
  let next: unknown = error;
  while (next instanceof Error && causes.length < 3) {
    // An error of several addresses that were tried has a code and no message.
    const words = messageOf(next) || (next as { code?: unknown }).code;
    if (typeof words === 'string' && words) causes.push(words);
    next = next.cause;
  }
  return causes.join(': ') || messageOf(error);
};
