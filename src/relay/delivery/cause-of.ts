import { messageOf } from '../../interface/errors.js';

/**
 * Why a request had no answer. The error of `fetch` says only that it failed; the errors in its `cause` say
 * why.
 */
export const causeOf = (error: unknown): string => {
  const causes: string[] = [];
  let next: unknown = error;
  while (next instanceof Error && causes.length < 3) {
    // When several addresses were tried, the error has a code and no message.
    const words = messageOf(next) || (next as { code?: unknown }).code;
    if (typeof words === 'string' && words) causes.push(words);
    next = next.cause;
  }
  return causes.join(': ') || messageOf(error);
};
