import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createCarrier } from '../../../src/client/delivery/carrier.js';
import { FAKED } from '../../support/settle.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: [...FAKED], now: Date.UTC(2026, 0, 1) });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const timeout = 30_000;

const create = () => {
  const fetch = vi.fn<(url: string, init: RequestInit) => Promise<Response>>(
    () => new Promise(() => undefined),
  );
  const carrier = createCarrier({
    settings: () => ({ timeout, fetch: fetch as unknown as typeof globalThis.fetch }),
    now: Date.now,
    watchDeparture: () => async () => false,
    isGoing: () => false,
  });
  const post = () => {
    const answered = vi.fn();
    const message = { url: 'https://in.test', headers: {}, body: '{}', size: 2, keepalive: true };
    void carrier.post({ ...message, credentials: 'omit' }).then(answered);
    return answered;
  };
  return { ...carrier, fetch, post };
};

const noAnswer = expect.objectContaining({ outcome: 'retry', status: 0 }) as unknown;

it('gives up what a page left under way two seconds after it is back, and nothing else', async () => {
  const { post, comeBack, room } = create();
  const before = room();
  const left = post();
  comeBack();
  const since = post();
  await vi.advanceTimersByTimeAsync(1_999);
  expect(left).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(left).toHaveBeenCalledWith(noAnswer);
  expect(since).not.toHaveBeenCalled();
  expect(before - room()).toBe(2);
});

describe('where the page has broken AbortController', () => {
  beforeEach(() => {
    vi.stubGlobal('AbortController', () => {
      throw new Error('broken');
    });
  });

  it('posts all the same', async () => {
    const { post, fetch } = create();
    fetch.mockImplementation(async () => new Response('{}'));
    const answered = post();
    await vi.advanceTimersByTimeAsync(0);
    expect(fetch.mock.calls[0]![1].signal).toBeNull();
    expect(answered).toHaveBeenCalledWith(expect.objectContaining({ status: 200 }));
  });

  it('does not wait for what takes too long', async () => {
    const { post } = create();
    const answered = post();
    await vi.advanceTimersByTimeAsync(timeout);
    expect(answered).toHaveBeenCalledWith(noAnswer);
  });

  it('tries without keepalive where that was refused', async () => {
    const { post, fetch } = create();
    fetch.mockRejectedValueOnce(new TypeError('Failed to fetch'));
    fetch.mockImplementation(async () => new Response('{}'));
    const answered = post();
    await vi.advanceTimersByTimeAsync(0);
    expect(fetch.mock.calls.map(([, { keepalive }]) => keepalive)).toEqual([true, false]);
    expect(answered).toHaveBeenCalledWith(expect.objectContaining({ status: 200 }));
  });
});
