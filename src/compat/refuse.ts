import type { Target } from './target.js';

/**
 * Tells of a call that cannot be made where the instance tells of wrong calls: `onDrop`, `status().dropped`, and a
 * developer's console. What an instance says of fields that throw as they become JSON is what they throw.
 */
export const refuse = (event: Target['event'], error: unknown): void =>
  event('', {
    toJSON: () => {
      throw error;
    },
  });
