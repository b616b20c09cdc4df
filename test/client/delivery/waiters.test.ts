import { describe, expect, it, vi } from 'vitest';
import { createWaiters } from '../../../src/client/delivery/waiters.js';

const NONE = { delivered: 0, retried: 0, rejected: 0, waiting: 0 };

/** Somebody who waits for the records up to the fifth, and what is under way. */
const wait = () => {
  const waiters = createWaiters();
  waiters.count('delivered'); // before
  const done = vi.fn();
  void waiters.add(5).then(done);
  const settle = async (underWay: number[], waiting = 0) => {
    waiters.settle(
      (last) => underWay.some((order) => order <= last),
      () => waiting,
    );
    await Promise.resolve();
  };
  return { waiters, done, settle };
};

describe('a caller of flush()', () => {
  it('waits until none of its records is under way, and hears what attempts came to', async () => {
    const { waiters, done, settle } = wait();
    waiters.count('delivered');
    await settle([5, 6]);
    expect(done).not.toHaveBeenCalled();
    waiters.count('rejected');
    waiters.count('retry');
    await settle([6], 3);
    expect(done).toHaveBeenCalledWith({ delivered: 1, retried: 1, rejected: 1, waiting: 3 });
  });

  it('waits for what other pages had left, too', async () => {
    const { done, settle } = wait();
    await settle([0]);
    expect(done).not.toHaveBeenCalled();
    await settle([]);
    expect(done).toHaveBeenCalledWith(NONE);
  });

  it('is answered once', async () => {
    const { done, settle } = wait();
    await settle([]);
    await settle([]);
    expect(done).toHaveBeenCalledTimes(1);
  });
});
