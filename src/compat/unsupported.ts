/** The error for a call without a counterpart. An instance takes the reason of the drop from it. */
export const unsupported = (name: string): Error =>
  Object.assign(Error(`${name} has no counterpart`), { reason: 'not-supported' });

/**
 * Fields of an event that throw this error when they are read. The instance drops the event, and tells of the error
 * where it tells of wrong calls: `onDrop`, `status().dropped` and a developer's console.
 */
export const failing = (error: unknown): object => ({
  get tags(): never {
    throw error;
  },
});
