import { vi } from 'vitest';

/** How long to wait for what a test waits for. By itself Vitest gives up after a second, which a loaded machine takes. */
const TIMEOUT_MS = 30_000;

const { waitFor, waitUntil } = vi;
const patient = (options: number | object = {}) =>
  typeof options === 'number' ? options : { timeout: TIMEOUT_MS, ...options };
Object.assign(vi, {
  waitFor: (work: () => unknown, options?: number | object) => waitFor(work, patient(options)),
  waitUntil: (isSo: () => unknown, options?: number | object) => waitUntil(isSo, patient(options)),
});

// Readers of the rows pause so that rows that come one by one cost less. No test waits for that.
vi.mock('../../src/server/store/pace.js', async (load) => ({
  ...(await load<object>()),
  PAUSE_MS: 3,
}));
