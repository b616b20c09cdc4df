import { vi } from 'vitest';

/** A loaded machine is no failure, so a test waits for long, and it looks often, so that it goes on at once. */
const PATIENCE = { timeout: 60_000, interval: 10 };

const { waitFor, waitUntil } = vi;
Object.assign(vi, {
  waitFor: (work: () => unknown, options?: object) => waitFor(work, { ...PATIENCE, ...options }),
  waitUntil: (isSo: () => unknown, options?: object) =>
    waitUntil(isSo, { ...PATIENCE, ...options }).catch((cause: unknown) => {
      throw new Error(`waited for ${isSo}`, { cause });
    }),
});

// Readers of the rows pause so that rows that come one by one cost less. No test waits for that.
vi.mock('../../src/server/store/pace.js', async (load) => ({
  ...(await load<object>()),
  PAUSE_MS: 3,
}));
