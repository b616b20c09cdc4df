import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createAlarm } from '../../../src/client/delivery/alarm.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('rings once, at the earliest of its times, and not after it was stopped', () => {
  const rings: number[] = [];
  const began = Date.now();
  const alarm = createAlarm(() => rings.push(Date.now() - began));
  for (const ms of [300, 100, 200]) alarm.set(began + ms);
  vi.advanceTimersByTime(1_000);
  expect(rings).toEqual([100]);
  alarm.stop();
  alarm.set(began + 1_500);
  alarm.stop();
  vi.advanceTimersByTime(1_000);
  expect(rings).toEqual([100]);
});
