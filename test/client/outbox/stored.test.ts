import { expect, it, vi } from 'vitest';
import { read } from '../../../src/client/outbox/stored.js';

it.each([
  ['takes it', () => undefined],
  [
    'is over',
    () => {
      throw new Error('over');
    },
  ],
])('work that throws is not an error of the page, and ends a transaction that %s', (_, end) => {
  const abort = vi.fn(end);
  const request = { result: 1, transaction: { abort } } as unknown as IDBRequest<number>;
  read(request, () => {
    throw new Error('without an in-progress transaction');
  });
  expect(() => request.onsuccess!(new Event('success'))).not.toThrow();
  expect(abort).toHaveBeenCalledOnce();
});
