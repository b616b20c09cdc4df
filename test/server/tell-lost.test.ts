import { expect, it, vi } from 'vitest';
import { createTellForgotten } from '../../src/server/tell-lost.js';

it('counts refused rows that were forgotten, and reports them at once, then once a minute', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const tell = { error: vi.fn(), metric: vi.fn() };
  const forgotten = createTellForgotten(tell as never, 'db/rows');
  for (const rows of [0, 2, 3]) forgotten(rows);
  expect(tell.error.mock.calls).toEqual([
    [{ kind: 'dropped', message: expect.stringMatching(/forgotten.*: 2 to db\/rows$/) }],
  ]);
  vi.advanceTimersByTime(60_000);
  forgotten(4);
  expect(tell.error.mock.lastCall![0].message).toMatch(/: 7 to db\/rows$/);
  expect(tell.metric.mock.calls.map(([, rows]) => rows)).toEqual([2, 3, 4]);
  vi.useRealTimers();
});
