import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { KEEPALIVE_BUDGET } from '../../../src/client/delivery/carrier.js';
import { readAnswer } from '../../../src/client/delivery/read-answer.js';
import { createService } from '../../support/create-service.js';
import { FAKED } from '../../support/settle.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: [...FAKED], now: Date.UTC(2026, 0, 1) });
});
afterEach(() => {
  vi.useRealTimers();
});

const never = new Promise<never>(() => undefined);

/** An answer whose body begins, and does not end. */
const endless = (start: string, { status = 200, onCancel = () => undefined as void } = {}) =>
  new Response(
    new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode(start)),
      cancel: onCancel,
    }),
    { status },
  );

describe('a body', () => {
  it('that does not end is given five seconds, and then its status is the answer', async () => {
    const { send, sender, fetch, request } = createService();
    const onCancel = vi.fn();
    fetch.mockResolvedValue(endless('{"succ', { onCancel }));
    const done = vi.fn();
    void send(40_000).then(done);
    await vi.advanceTimersByTimeAsync(4_999);
    expect(done).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(done.mock.calls).toMatchObject([[{ outcome: 'delivered', status: 200 }]]);
    expect(onCancel).toHaveBeenCalledTimes(1);
    expect(request()[1].signal?.aborted).toBe(true);
    expect(sender.room()).toBe(KEEPALIVE_BUDGET);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('that does not end is given no more than the timeout', async () => {
    const { send, settings, fetch } = createService();
    settings.timeout = 2_000;
    fetch.mockResolvedValue(endless('', { status: 503 }));
    const attempt = send();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await attempt).toMatchObject({ outcome: 'retry', status: 503 });
  });

  it('that does not end is believed as far as it came', async () => {
    const { send, fetch } = createService();
    fetch.mockResolvedValue(endless('{"code":400,"message":"Invalid request data"}'));
    const attempt = send();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await attempt).toMatchObject({ outcome: 'rejected', status: 200 });
  });

  it.each([
    ['{"success":true}', 'delivered'],
    ['{"success":false}', 'rejected'],
    ['<!doctype html>', 'blocked'],
  ])('that is too long is read to 64 KiB (%s)', async (start, outcome) => {
    const { send, fetch, request } = createService();
    let chunks = 0;
    const spaces = new TextEncoder().encode(' '.repeat(16_384));
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode(start)),
      pull: (controller) => {
        chunks++;
        controller.enqueue(spaces);
      },
    });
    fetch.mockResolvedValue(new Response(body));
    expect(await send()).toMatchObject({ outcome, status: 200 });
    expect(chunks).toBeLessThan(8);
    expect(request()[1].signal?.aborted).toBe(true);
  });

  it('that came to its end aborts nothing: others may read a copy', async () => {
    const { send, request } = createService();
    await send();
    expect(request()[1].signal?.aborted).toBe(false);
  });

  it('may be cut within a letter', async () => {
    const text = '{"success":false,"message":"ü"}';
    const bytes = new TextEncoder().encode(text);
    const body = new ReadableStream({
      start: (controller) => {
        controller.enqueue(bytes.slice(0, -3));
        controller.enqueue(bytes.slice(-3));
        controller.close();
      },
    });
    const effects = { timeout: 30_000, now: Date.now, abort: () => undefined };
    const answer = await readAnswer(new Response(body), effects);
    expect(answer).toMatchObject({ outcome: 'rejected', body: text });
  });

  it('is read no further once it is full', async () => {
    const { send, fetch, request } = createService();
    fetch.mockResolvedValue(endless(' '.repeat(65_536)));
    expect(await send()).toMatchObject({ outcome: 'delivered', status: 200 });
    expect(request()[1].signal?.aborted).toBe(true);
  });
});

/** What a script that wraps `fetch` may hand on. */
describe('a response', () => {
  const text = async () => '{"success":true}';
  const headers = new Headers({ 'retry-after': '7' });
  const throwing = () => {
    throw new Error('no');
  };
  it.each([
    ['has no headers', { status: 200, text }],
    ['has headers that throw', { status: 200, text, headers: { get: throwing } }],
    ['has neither text nor body', { status: 200, headers }],
    ['has a text that throws', { status: 200, headers, text: throwing }],
    ['has a text that is no promise', { status: 200, headers, text: () => '{"success":true}' }],
    ['has a text that is none', { status: 200, headers, text: () => undefined }],
    ['has a body that is no stream', { status: 200, headers, text, body: 'text' }],
    ['has a body that is being read', { status: 200, body: { getReader: throwing } }],
    ['has a text for a status', { status: '200', text }],
  ])('that %s is the answer', async (_, response) => {
    const { send, fetch } = createService();
    fetch.mockResolvedValue(response as unknown as Response);
    expect(await send()).toMatchObject({ outcome: 'delivered', status: 200 });
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it('that has a text and no stream says what its text says, and is not aborted', async () => {
    const { send, fetch, request } = createService();
    const said = async () => '{"success":false}';
    fetch.mockResolvedValue({ status: 200, headers, text: said } as unknown as Response);
    expect(await send()).toMatchObject({ outcome: 'rejected', status: 200 });
    expect(request()[1].signal?.aborted).toBe(false);
  });

  it('that has a text which never comes is the answer after five seconds', async () => {
    const { send, fetch } = createService();
    fetch.mockResolvedValue({ status: 200, text: () => never } as unknown as Response);
    const attempt = send();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await attempt).toMatchObject({ outcome: 'delivered', status: 200 });
  });

  it('may come by a thenable', async () => {
    const { send, fetch } = createService();
    const thenable = { then: (done: (response: Response) => void) => done(new Response('')) };
    fetch.mockReturnValue(thenable as unknown as Promise<Response>);
    expect(await send()).toMatchObject({ outcome: 'delivered' });
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it('to a redirect that was followed is no delivery: the POST became a GET', async () => {
    const { send, fetch } = createService();
    const followed = Object.defineProperty(new Response(''), 'redirected', { value: true });
    fetch.mockResolvedValue(followed);
    expect(await send()).toMatchObject({ outcome: 'blocked', status: 302 });
  });
});
