import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createAlarm } from '../../../src/client/delivery/alarm.js';

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

const create = () => {
  const rings: number[] = [];
  return { rings, ...createAlarm(Date.now, () => rings.push(Date.now())) };
};

it('rings once, at the earliest of its times', () => {
  const { rings, setBy } = create();
  for (const time of [200, 100, 300]) setBy(time);
  vi.advanceTimersByTime(1_000);
  expect(rings).toEqual([100]);
});

it('rings though it is set for later in the millisecond in which it is due', () => {
  const { rings, setBy } = create();
  setBy(100);
  vi.setSystemTime(100); // its timer is a little late
  setBy(2_000);
  vi.advanceTimersByTime(100);
  expect(rings).toHaveLength(1);
});

it('rings in time where its timer has slept with the machine', () => {
  const { rings, setBy } = create();
  setBy(100_000);
  vi.setSystemTime(200_000);
  setBy(200_010);
  vi.advanceTimersByTime(10);
  expect(rings).toEqual([200_010]);
});
