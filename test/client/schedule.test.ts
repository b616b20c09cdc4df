import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSchedule } from '../../src/client/schedule.js';

const flush = vi.fn();
const leave = vi.fn();

const start = (flushAt = 2) =>
  createSchedule({ settings: () => ({ flushAt, flushInterval: 1_000 }), flush, leave });

const show = (visibilityState: string) => vi.stubGlobal('document', { visibilityState });

beforeEach(() => {
  vi.useFakeTimers();
  show('visible');
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.resetAllMocks();
});

describe('the calls of a page', () => {
  it('are flushed after the interval, those that came meanwhile with the first', async () => {
    const schedule = start(5);
    expect([schedule.add(), schedule.add()]).toEqual([true, false]);
    await vi.advanceTimersByTimeAsync(999);
    expect(flush).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(flush).toHaveBeenCalledOnce();
  });

  it('are flushed once, however many come in one task', async () => {
    const schedule = start();
    for (let i = 0; i < 9; i++) schedule.add();
    expect(flush).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(0);
    expect(flush).toHaveBeenCalledOnce();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(flush).toHaveBeenCalledOnce();
  });

  it('are counted anew after each flush', async () => {
    const schedule = start();
    for (const flushes of [1, 2, 3]) {
      expect([schedule.add(), schedule.add()]).toEqual([true, false]);
      await vi.advanceTimersByTimeAsync(0);
      expect(flush).toHaveBeenCalledTimes(flushes);
    }
  });

  it('are handed off once, and flushed once, where the page is hidden', async () => {
    const schedule = start();
    show('hidden');
    expect([schedule.add(), schedule.add()]).toEqual([false, false]);
    await vi.advanceTimersByTimeAsync(0);
    expect(leave).toHaveBeenCalledOnce();
    expect(flush).toHaveBeenCalledOnce();
    schedule.add();
    await vi.advanceTimersByTimeAsync(0);
    expect(leave).toHaveBeenCalledTimes(2);
    expect(flush).toHaveBeenCalledTimes(2);
  });

  it('are not flushed after the interval once it is stopped', async () => {
    const schedule = start();
    schedule.add();
    schedule.stop();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(flush).not.toHaveBeenCalled();
  });
});
