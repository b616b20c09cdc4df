import { vi } from 'vitest';

/**
 * Properties draw the same inputs in each run, so that a failure is the change's and comes again. At night they draw
 * freely: `FC_SEED=random`. A failure prints its seed, and `FC_SEED=<seed>` draws the same again.
 */
const { FC_SEED = '1' } = process.env;
// Only the files with properties load the library.
vi.mock('fast-check', async (load) => {
  const fc = await load<typeof import('fast-check')>();
  if (FC_SEED !== 'random') fc.configureGlobal({ seed: Number(FC_SEED) });
  return fc;
});
