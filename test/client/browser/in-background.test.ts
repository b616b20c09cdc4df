import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { inBackground } from '../../../src/client/browser/in-background.js';
import { settle } from '../../support/settle.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('in the background', () => {
  it('is a background task where the browser has them', () => {
    const postTask = vi.fn(async (callback: () => void) => callback());
    vi.stubGlobal('scheduler', { postTask });
    const work = vi.fn();
    inBackground(work);
    expect(postTask).toHaveBeenCalledWith(expect.any(Function), { priority: 'background' });
    expect(work).toHaveBeenCalledTimes(1);
  });

  it('is no unhandled rejection where the task is given up', async () => {
    const failed = vi.fn();
    process.once('unhandledRejection', failed);
    vi.stubGlobal('scheduler', { postTask: async () => Promise.reject(new Error('aborted')) });
    inBackground(() => undefined);
    await settle();
    process.off('unhandledRejection', failed);
    expect(failed).not.toHaveBeenCalled();
  });

  it.each([
    ['returns nothing', (callback: () => void) => callback()],
    ['returns a number', (callback: () => void) => (callback(), 1)],
  ])('is a background task where a foreign one %s', (_, postTask) => {
    vi.stubGlobal('scheduler', { postTask });
    const work = vi.fn();
    inBackground(work);
    expect(work).toHaveBeenCalledTimes(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is a timeout where all else throws', () => {
    const broken = () => {
      throw new Error('broken');
    };
    vi.stubGlobal('scheduler', { postTask: broken });
    vi.stubGlobal('requestIdleCallback', broken);
    const work = vi.fn();
    inBackground(work);
    vi.runAllTimers();
    expect(work).toHaveBeenCalledTimes(1);
  });

  it('is an idle moment where there are no tasks', () => {
    vi.stubGlobal('scheduler', undefined);
    vi.stubGlobal('requestIdleCallback', (callback: () => void) => callback());
    const work = vi.fn();
    inBackground(work);
    expect(work).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['no background task', { scheduler: { postTask: async () => new Promise(() => undefined) } }],
    ['no idle moment', { scheduler: undefined, requestIdleCallback: () => 1 }],
  ])('is half a second later where %s comes', (_, globals: Record<string, unknown>) => {
    for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);
    const work = vi.fn();
    inBackground(work);
    vi.advanceTimersByTime(499);
    expect(work).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(work).toHaveBeenCalledTimes(1);
  });

  it('is once, whatever comes later', () => {
    let late: () => void = () => undefined;
    vi.stubGlobal('scheduler', {
      postTask: async (callback: () => void) => {
        late = callback;
      },
    });
    const work = vi.fn();
    inBackground(work);
    vi.runAllTimers();
    late();
    expect(work).toHaveBeenCalledTimes(1);
  });

  it('is a timeout where there is neither', () => {
    vi.stubGlobal('scheduler', {});
    vi.stubGlobal('requestIdleCallback', undefined);
    const work = vi.fn();
    inBackground(work);
    expect(work).not.toHaveBeenCalled();
    vi.runAllTimers();
    expect(work).toHaveBeenCalledTimes(1);
  });
});
