import type { Database } from '../../client/outbox/database.js';

/** What an instance for tests has in place of `client/outbox/database.ts`: none, so that all stays in memory. */
export const openDatabase = (): Database => ({
  medium: () => 'memory',
  run: () => Promise.reject(new Error()),
  leave: () => undefined,
  end: async () => undefined,
});
