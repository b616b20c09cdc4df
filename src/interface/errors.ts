/** Turns anything thrown into words, and cannot throw itself. */
export const messageOf = (error: unknown): string => {
  try {
    return String((error as Error | undefined)?.message ?? error);
  } catch {
    return 'unknown error'; // an object whose toString throws
  }
};
