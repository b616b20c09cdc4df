import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { KEEPALIVE_BUDGET } from '../../../src/client/delivery/carrier.js';
import { createService, type Fetch } from '../../support/create-service.js';
import { makeRecord } from '../../support/make-record.js';
import { FAKED, settle } from '../../support/settle.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: [...FAKED], now: Date.UTC(2026, 0, 1) });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A fetch that never answers, and gives up when told so. */
const hang: Fetch = (_, { signal }) =>
  new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error));
  });

describe('a request', () => {
  it('is exactly what the interface wants', async () => {
    const { send, request, fetch } = createService();
    await send();
    expect(fetch).toHaveBeenCalledTimes(1);
    const [url, { signal, ...init }] = request();
    expect(url).toBe('https://in.test/v1/event');
    expect(init).toEqual({
      method: 'POST',
      headers: { authorization: 'Bearer tok', 'content-type': 'application/json' },
      body: 'x'.repeat(10),
      keepalive: true,
      credentials: 'omit',
      priority: 'low',
      redirect: 'manual',
    });
    expect(signal?.aborted).toBe(false);
  });

  it('goes to the operation of its record', async () => {
    const { sendRecord, request } = createService();
    await sendRecord(makeRecord('i', { type: 'identify', user: 'u' }), 10, true);
    expect(request()[0]).toBe('https://in.test/v1/identify');
  });

  it.each([
    ['https://in.test/', 'https://in.test/v1/event'],
    ['https://in.test///', 'https://in.test/v1/event'],
    ['https://in.test/api/', 'https://in.test/api/v1/event'],
  ])('to %s goes to %s', async (baseUrl, url) => {
    const { send, request, settings } = createService();
    settings.baseUrl = baseUrl;
    await send();
    expect(request()[0]).toBe(url);
  });

  it("carries the record's id as Idempotency-Key only where that is wanted", async () => {
    const { send, request, settings } = createService();
    settings.idempotencyKey = true;
    await send();
    expect(request()[1].headers).toMatchObject({ 'idempotency-key': 'id1' });
  });

  it('starts before send returns', () => {
    const { send, fetch } = createService();
    void send();
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it('is one that browsers ask another origin about first', () => {
    expect(createService().sender.hasPreflight).toBe(true);
  });

  it('uses the fetch of the options, or else the one that is global then', async () => {
    const { send, settings, fetch } = createService();
    const other = vi.fn<Fetch>(async () => new Response('', { status: 202 }));
    vi.stubGlobal('fetch', other);
    expect((await send()).status).toBe(200);
    expect(other).not.toHaveBeenCalled();
    expect(fetch).toHaveBeenCalledTimes(1);
    Object.assign(settings, { fetch: undefined });
    expect((await send()).status).toBe(202);
    vi.unstubAllGlobals();
  });

  it('does not follow a redirect, and takes it for a wrong set-up', async () => {
    const { send, fetch } = createService();
    fetch.mockResolvedValue(
      // As browsers show it: type opaqueredirect, status 0.
      Object.defineProperties(new Response(''), { status: { value: 0 } }),
    );
    expect(await send()).toMatchObject({ outcome: 'blocked', status: 302 });
  });
});

describe('an attempt', () => {
  it('says what it came to', async () => {
    const { send } = createService();
    expect(await send()).toMatchObject({
      outcome: 'delivered',
      status: 200,
      retryAfterMs: 0,
      isStale: false,
    });
  });

  it.each([
    [401, 'token'],
    [403, 'token'],
    [404, 'baseUrl'],
    [405, 'baseUrl'],
  ])('answered %i names the option `%s`', async (status, option) => {
    const { send, fetch } = createService();
    fetch.mockResolvedValue(new Response('', { status }));
    expect(await send()).toMatchObject({
      outcome: 'blocked',
      problem: expect.stringMatching(new RegExp(`${status}.*option \`${option}\``)),
    });
  });

  it('waits for a token as long as for an answer', async () => {
    const { sender, settings } = createService();
    const late = new Promise<string>((resolve) => setTimeout(() => resolve('late'), 29_000));
    Object.assign(settings, { token: () => late });
    const asked = sender.token!.ask();
    await vi.advanceTimersByTimeAsync(29_500);
    expect(await asked).toBeUndefined();
    expect(sender.token!.get()).toBe('late');
  });

  it('hears Retry-After', async () => {
    const { send, fetch } = createService();
    fetch.mockResolvedValue(new Response('', { status: 429, headers: { 'Retry-After': '7' } }));
    expect(await send()).toMatchObject({ outcome: 'retry', status: 429, retryAfterMs: 7_000 });
  });

  it('reads the body to its end before it is over', async () => {
    const { send, fetch } = createService();
    let end!: () => void;
    const body = new ReadableStream({
      start: (controller) => {
        end = () => controller.close();
      },
    });
    const response = new Response(body, { status: 500 });
    fetch.mockResolvedValue(response);
    const done = vi.fn();
    void send().then(done);
    await settle();
    expect(done).not.toHaveBeenCalled();
    end();
    await settle();
    expect(done).toHaveBeenCalled();
    expect(response.bodyUsed).toBe(true);
  });

  it.each([
    [200, 'delivered'],
    [503, 'retry'],
    [400, 'rejected'],
  ])('with %i is %s though its body breaks off', async (status, outcome) => {
    const { send, fetch } = createService();
    fetch.mockImplementation(async () => {
      const body = new ReadableStream({ start: (c) => c.error(new TypeError('network error')) });
      return new Response(body, { status });
    });
    expect(await send()).toMatchObject({ outcome, status });
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it('is given up after its timeout', async () => {
    const { send, fetch, request } = createService();
    fetch.mockImplementation(hang);
    const attempt = send();
    await vi.advanceTimersByTimeAsync(29_999);
    expect(request()[1].signal?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await attempt).toMatchObject({ outcome: 'retry', status: 0 });
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it('is heard though its timeout is over, where the page stood still and it is next in the queue', async () => {
    const { send, fetch } = createService();
    let answer: (response: Response) => void = () => undefined;
    fetch.mockImplementation(() => new Promise((resolve) => (answer = resolve)));
    const attempt = send();
    // The overdue timer comes first.
    await vi.advanceTimersByTimeAsync(29_900);
    vi.setSystemTime(Date.now() + 60_000);
    answer(new Response(''));
    expect(await attempt).toMatchObject({ outcome: 'delivered', status: 200 });
  });

  it('is given up after its timeout though the fetch that was passed in knows no signal', async () => {
    const { send, fetch } = createService();
    fetch.mockImplementation(() => new Promise(() => undefined));
    const done = vi.fn();
    void send().then(done);
    await vi.advanceTimersByTimeAsync(31_000);
    expect(done).toHaveBeenCalled();
  });

  it('leaves no timer behind', async () => {
    const { send } = createService();
    await send();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('never rejects, whatever fetch does', async () => {
    const { send, fetch } = createService();
    fetch.mockImplementation(() => {
      throw new Error('sync');
    });
    expect(await send()).toMatchObject({ outcome: 'retry', status: 0 });
    fetch.mockResolvedValue(undefined as unknown as Response);
    expect(await send()).toMatchObject({ outcome: 'retry', status: 0 });
    // It may have gone out: not at once again.
    expect(fetch).toHaveBeenCalledTimes(3);
  });
});

/** A network that takes so many milliseconds to fail. */
const failAfter = (ms: number) => () =>
  new Promise<never>((_, reject) => {
    setTimeout(() => reject(new TypeError('Failed to fetch')), ms);
  });

describe('keepalive', () => {
  it('is given up to the budget', async () => {
    const { send, sender, request } = createService();
    expect(sender.room()).toBe(KEEPALIVE_BUDGET);
    const attempt = send(60_000);
    expect(request()[1].keepalive).toBe(false);
    // Such a request takes none of it, and gives none back.
    expect(sender.room()).toBe(KEEPALIVE_BUDGET);
    await attempt;
    expect(sender.room()).toBe(KEEPALIVE_BUDGET);
  });

  it('counts the bodies in flight, and gives them back', async () => {
    const { send, sender, fetch } = createService();
    let answer!: (response: Response) => void;
    fetch.mockImplementation(() => new Promise((resolve) => (answer = resolve)));
    const attempt = send(40_000);
    expect(sender.room()).toBeGreaterThanOrEqual(9_000);
    expect(sender.room()).toBeLessThan(10_000);
    answer(new Response(''));
    await attempt;
    expect(sender.room()).toBe(KEEPALIVE_BUDGET);
  });

  it.each([
    ['fails', async () => Promise.reject(new TypeError('Failed to fetch'))],
    ['is refused', async () => new Response('', { status: 400 })],
    [
      'has a body that breaks off',
      async () => Object.assign(new Response(), { text: () => Promise.reject(new Error('x')) }),
    ],
  ] as [string, Fetch][])('gives its budget back when the request %s', async (_, answer) => {
    const { send, sender, fetch } = createService();
    fetch.mockImplementation(answer);
    for (let i = 0; i < 20; i++) await send(40_000);
    expect(sender.room()).toBe(KEEPALIVE_BUDGET);
  });

  it('gives its budget back when the request is timed out', async () => {
    const { send, sender, fetch } = createService();
    fetch.mockImplementation(hang);
    const attempt = send(40_000);
    await vi.advanceTimersByTimeAsync(30_000);
    await attempt;
    expect(sender.room()).toBe(KEEPALIVE_BUDGET);
  });

  it('that is refused is tried once without', async () => {
    const { send, fetch, request } = createService();
    fetch.mockRejectedValueOnce(new TypeError('Failed to fetch'));
    expect(await send()).toMatchObject({ outcome: 'delivered' });
    expect([request(0)[1].keepalive, request(1)[1].keepalive]).toEqual([true, false]);
  });

  it('is not tried without by a page that stood still meanwhile: its records may be another page’s', async () => {
    const { fetch, send } = createService();
    let fail: (error: Error) => void = () => undefined;
    fetch.mockImplementationOnce(() => new Promise((_, reject) => (fail = reject)));
    const sent = send();
    await settle();
    // Its timers stood still, too.
    vi.setSystemTime(Date.now() + 3_600_000);
    fail(new TypeError('Failed to fetch'));
    expect(await sent).toMatchObject({ outcome: 'retry', status: 0 });
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it('is not tried without by a page that stood still after the refusal', async () => {
    const { fetch, send, state } = createService();
    fetch.mockRejectedValueOnce(new TypeError('Failed to fetch'));
    // While it asks whether it has been left.
    state.whenAsked = () => void vi.setSystemTime(Date.now() + 3_600_000);
    expect(await send()).toMatchObject({ outcome: 'retry', status: 0 });
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it('is not tried without where the network took its time to fail: the service may have it', async () => {
    const { send, fetch } = createService();
    fetch.mockImplementation(failAfter(51));
    const sent = send();
    await vi.advanceTimersByTimeAsync(51);
    expect(await sent).toMatchObject({ outcome: 'retry', status: 0 });
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it('is not tried twice without', async () => {
    const { send, fetch } = createService();
    fetch.mockRejectedValue(new TypeError('Failed to fetch'));
    expect(await send()).toMatchObject({ outcome: 'retry', status: 0 });
    expect(fetch).toHaveBeenCalledTimes(2);
  });

  it('is not tried without while the page goes: the browser completes what it started', async () => {
    const { send, fetch, state } = createService();
    state.wasLeft = true;
    fetch.mockRejectedValue(new TypeError('Failed to fetch'));
    expect(await send()).toBeUndefined();
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it('is not tried without where the page was going: it may be back, and the record elsewhere', async () => {
    const { send, fetch, state } = createService();
    state.isGoing = true;
    fetch.mockRejectedValue(new TypeError('Failed to fetch'));
    expect(await send()).toMatchObject({ outcome: 'retry', status: 0 });
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it('does not start the timeout anew when it is tried without', async () => {
    const { send, fetch } = createService();
    fetch.mockImplementationOnce(failAfter(50));
    fetch.mockImplementation(hang);
    const done = vi.fn();
    void send().then(done);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(fetch).toHaveBeenCalledTimes(2);
    expect(done).toHaveBeenCalled();
  });
});

describe('aborting', () => {
  it('gives up all that is under way', async () => {
    const { send, sender, fetch } = createService();
    fetch.mockImplementation(hang);
    const attempts = [send(), send(60_000)];
    sender.abort();
    expect(await Promise.all(attempts)).toMatchObject([{ status: 0 }, { status: 0 }]);
    expect(fetch).toHaveBeenCalledTimes(2);
  });
});
