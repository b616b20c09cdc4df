import { describe, expect, it, vi } from 'vitest';
import { createWaiters } from '../../../src/client/delivery/waiters.js';
import { createEntry, createParcel } from '../../../src/client/outbox/parcel.js';
import { makeRecord } from '../../support/make-record.js';

const entry = (id: string, parts: { order?: number } = {}) =>
  Object.assign(createEntry(makeRecord(id), createParcel([0, 'maker', 1])), { order: 1 }, parts);

/** Callers, one that waits, and what it got. */
const wait = (...entries: ReturnType<typeof entry>[]) => {
  const waiters = createWaiters();
  const done = vi.fn();
  void waiters.add(entries).then(done);
  const settle = async (isIdle: boolean, waiting = 0) => {
    waiters.settle(isIdle, () => waiting);
    await Promise.resolve();
  };
  return { waiters, done, settle };
};

describe('a caller of flush()', () => {
  it('waits until all its records have had their attempt', async () => {
    const [a, b] = [entry('a'), entry('b')];
    const { waiters, done, settle } = wait(a, b);
    waiters.count(a, 'delivered');
    await settle(false);
    expect(done).not.toHaveBeenCalled();
    waiters.count(b, 'rejected');
    await settle(false, 3);
    expect(done).toHaveBeenCalledWith({ delivered: 1, retried: 0, rejected: 1, waiting: 3 });
  });

  it('waits no longer than there is something to wait for', async () => {
    const { done, settle } = wait(entry('a'));
    await settle(true, 1);
    expect(done).toHaveBeenCalledWith({ delivered: 0, retried: 0, rejected: 0, waiting: 1 });
  });

  it('counts an attempt once, and none of what it did not wait for', async () => {
    const a = entry('a');
    const { waiters, done, settle } = wait(a);
    waiters.count(entry('b'), 'delivered');
    waiters.count(a, 'retry');
    waiters.count(a, 'delivered');
    await settle(false);
    expect(done).toHaveBeenCalledWith({ delivered: 0, retried: 1, rejected: 0, waiting: 0 });
  });

  it('waits for adopted records, too, that have had no attempt yet', async () => {
    const tried = entry('tried', { order: 0 });
    tried.record.attempts = 1;
    const adopted = entry('adopted', { order: 0 });
    const { waiters, done, settle } = wait();
    waiters.join(() => [tried, adopted, entry('own')]);
    await settle(false);
    expect(done).not.toHaveBeenCalled();
    waiters.count(adopted, 'delivered');
    await settle(false);
    expect(done).toHaveBeenCalledWith({ delivered: 1, retried: 0, rejected: 0, waiting: 0 });
  });
});
