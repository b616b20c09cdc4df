import { expect, it, vi } from 'vitest';
import { clearTimeout, setTimeout } from '../../../src/testing/platform/timers.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

it('ends a short wait at once, though not in the same task', async () => {
  const work = vi.fn();
  setTimeout(work);
  setTimeout(work, 500);
  expect(work).not.toHaveBeenCalled();
  await turn();
  expect(work).toHaveBeenCalledTimes(2);
});

it('never ends a long wait, nor one that is cleared', async () => {
  const work = vi.fn();
  setTimeout(work, 1_000);
  clearTimeout(setTimeout(work));
  await turn();
  expect(work).not.toHaveBeenCalled();
});
