import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Settings } from '../../src/client/options.js';
import { createSchedule } from '../../src/client/schedule.js';

let idle: (() => void)[];
beforeEach(() => {
  vi.useFakeTimers();
  idle = [];
  vi.stubGlobal('document', { visibilityState: 'visible', readyState: 'complete' });
  vi.stubGlobal('requestIdleCallback', (work: () => void) => idle.push(work));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const open = () => {
  const flush = vi.fn();
  const settings = { flushAt: 3, flushInterval: 1_000 } as Settings;
  const [call] = createSchedule(
    () => settings,
    flush,
    () => undefined,
  );
  const calls = (count: number) => {
    for (let i = 0; i < count; i++) call();
  };
  return { flush, calls };
};

describe('calls', () => {
  it('are flushed after the interval, or as soon as there are enough, in an idle moment', () => {
    const { flush, calls } = open();
    calls(2);
    vi.advanceTimersByTime(1_000);
    expect([idle.length, flush.mock.calls.length]).toEqual([1, 0]);
    idle.pop()!();
    expect(flush).toHaveBeenCalledTimes(1);
    calls(3);
    idle.pop()!();
    expect(flush).toHaveBeenCalledTimes(2);
    vi.advanceTimersByTime(10_000);
    expect(flush).toHaveBeenCalledTimes(2);
  });

  it('are flushed where the page never has an idle moment, and where it swallows the timer', () => {
    const { flush, calls } = open();
    calls(3);
    vi.advanceTimersByTime(1_000);
    expect(flush).toHaveBeenCalledTimes(1);
    calls(1);
    vi.clearAllTimers();
    vi.setSystemTime(Date.now() + 10_000);
    calls(1);
    vi.advanceTimersByTime(2_000);
    expect(flush).toHaveBeenCalledTimes(2);
  });
});
