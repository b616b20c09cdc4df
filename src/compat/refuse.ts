import type { Target } from './target.js';

/**
 * Tells of a call without a counterpart where the instance tells of wrong calls, which are `onDrop`, `status().dropped`
 * and a developer's console. An instance takes the reason of a drop from what the fields throw as they become JSON.
 */
export const refuse = ({ event }: Pick<Target, 'event'>, name: string): void =>
  event(name, {
    toJSON: () => {
      throw Object.assign(Error(`${name} has no counterpart`), { reason: 'not-supported' });
    },
  });
