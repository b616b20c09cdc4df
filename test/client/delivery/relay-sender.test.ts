import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { KEEPALIVE_BUDGET } from '../../../src/client/delivery/carrier.js';
import { outcomeOf } from '../../../src/interface/outcome.js';
import { createRelaySender } from '../../../src/client/delivery/relay-sender.js';
import type { Manner } from '../../../src/client/delivery/sender.js';
import type { Batch, BatchAnswer } from '../../../src/interface/wire.js';
import { makeRecord, makeRecords } from '../../support/make-record.js';
import { FAKED } from '../../support/settle.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: [...FAKED], now: Date.UTC(2026, 0, 1) });
});
afterEach(() => {
  vi.useRealTimers();
});

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

const json = (answer: unknown) => new Response(JSON.stringify(answer));
const batchOf = (body: unknown) => JSON.parse(body as string) as Batch;

/** A relay that delivers everything. */
const deliver: Fetch = async (_, { body }) =>
  json({
    results: batchOf(body).records.map(({ id }) => ({ id, outcome: 'delivered', status: 200 })),
  } satisfies BatchAnswer);

const createRelay = (fetch = vi.fn<Fetch>(deliver)) => {
  const beacon = vi.fn<(url: string, body: string) => boolean>(() => true);
  const state = { isGoing: false, wasLeft: false };
  const sender = createRelaySender({
    settings: () => ({
      ...{ relay: 'https://shop.test/a', timeout: 30_000 },
      fetch: fetch as unknown as typeof globalThis.fetch,
    }),
    now: Date.now,
    watchDeparture: () => async () => state.wasLeft,
    isGoing: () => state.isGoing,
    beacon,
  });
  const send = (records = makeRecords(3), manner: Partial<Manner> = {}) =>
    sender.send(records, { size: 1_000, keepalive: true, ...manner });
  return { fetch, beacon, state, sender, send };
};

const answering = (make: () => Response) => createRelay(vi.fn<Fetch>(async () => make()));

describe('a batch', () => {
  it('is what the relay reads, with the bodies as they are', async () => {
    const { send, fetch } = createRelay();
    const records = [
      makeRecord('id1', { type: 'identify', user: 'ü' }),
      { ...makeRecord('id2'), body: '{"event":"\\"quoted\\" 🎉","tags":{"a":[1,null]}}' },
    ];
    await send(records);
    const [url, { signal, body, ...init }] = fetch.mock.calls[0]!;
    expect(url).toBe('https://shop.test/a/v1/batch');
    expect(batchOf(body)).toEqual({
      sent_at: '2026-01-01T00:00:00.000Z',
      records: [
        { id: 'id1', type: 'identify', body: { event: 'id1' } },
        { id: 'id2', type: 'event', body: { event: '"quoted" 🎉', tags: { a: [1, null] } } },
      ],
    });
    expect(init).toEqual({
      method: 'POST',
      headers: { 'content-type': 'text/plain;charset=UTF-8' }, // no preflight
      keepalive: true,
      credentials: 'same-origin',
      priority: 'low',
      redirect: 'manual',
    });
    expect(signal?.aborted).toBe(false);
  });

  it('shows no token, and waits for none', () => {
    const { sender } = createRelay();
    expect(sender.token).toBeUndefined();
  });

  it('weighs no more than was said', async () => {
    const { sender, send, fetch } = createRelay();
    const { bytesPerRecord } = sender.capacity;
    const records = makeRecords(50).map((record, i) => ({
      ...record,
      id: `${i}`.padStart(21, '_'),
      type: 'identify' as const,
    }));
    const lengthOf = (n: number) => (fetch.mock.calls[n]![1].body as string).length;
    const [one] = records;
    await send([one!]);
    expect(lengthOf(0)).toBe(one!.body.length + bytesPerRecord);
    await send(records);
    const bodies = records.reduce((sum, { body }) => sum + body.length, 0);
    expect(lengthOf(1)).toBeLessThanOrEqual(bodies + 50 * bytesPerRecord);
  });

  it('starts before send returns', () => {
    const { send, fetch } = createRelay();
    void send();
    expect(fetch).toHaveBeenCalledTimes(1);
  });
});

describe('an answer', () => {
  it('is told record by record, in their order, whatever its own', async () => {
    const { send } = answering(() =>
      json({
        results: [
          { id: 'r4', outcome: 'rejected', status: 422 },
          { id: 'r3', outcome: 'blocked', status: 401 },
          { id: 'r5', outcome: 'blocked', status: 403, unlisted: 'channel' },
          { id: 'r2', outcome: 'retry', status: 503, retry_after: 7 },
          { id: 'r1', outcome: 'accepted', status: 202 },
          { id: 'r0', outcome: 'delivered', status: 200 },
        ],
      }),
    );
    const unlisted = { ...makeRecord('r5'), body: '{"channel":"gr\\"owth","event":"e"}' };
    expect(await send([...makeRecords(5), unlisted])).toMatchObject([
      { outcome: 'delivered', status: 200, retryAfterMs: 0 },
      { outcome: 'delivered', status: 202 },
      { outcome: 'retry', status: 503, retryAfterMs: 7_000 },
      { outcome: 'blocked', status: 401, problem: expect.stringContaining("relay's own set-up") },
      { outcome: 'rejected', status: 422 },
      {
        ...{ outcome: 'blocked', status: 403, isUnlisted: true },
        problem: `the relay does not list the channel "gr\\"owth": add it to the relay's list \`channels\``,
      },
    ]);
  });

  it.each([
    ['no result', []],
    ['a result of another', [{ id: 'x', outcome: 'delivered', status: 200 }]],
    ['an unknown outcome', [{ id: 'r0', outcome: 'lost', status: 200 }]],
    ["an outcome that is an object's own", [{ id: 'r0', outcome: 'constructor', status: 200 }]],
    ['nothing', [null, 5, 'r0']],
  ])('with %s for a record has it sent again', async (_, results) => {
    const { send } = answering(() => json({ results }));
    expect(await send(makeRecords(1))).toMatchObject([{ outcome: 'retry', retryAfterMs: 0 }]);
  });

  it.each([
    [-5, 0],
    [1e9, 3_600_000],
    ['soon', 0],
    ['3', 3_000],
    [null, 0],
  ])('that asks for a wait of %s has %i ms', async (retry_after, ms) => {
    const results = [{ id: 'r0', outcome: 'retry', status: 429, retry_after }];
    const { send } = answering(() => json({ results }));
    expect(await send(makeRecords(1))).toMatchObject([{ retryAfterMs: ms }]);
  });

  it.each([429, 500, 502, 503])('of %i is one for all, with its Retry-After', async (status) => {
    const headers = { 'retry-after': '9' };
    const { send } = answering(() => new Response('busy', { status, headers }));
    expect(await send()).toMatchObject({ outcome: 'retry', status, retryAfterMs: 9_000 });
  });

  it('of 500 is one for all, whatever it says of each', async () => {
    const results = makeRecords(3).map(({ id }) => ({ id, outcome: 'delivered', status: 200 }));
    const { send } = answering(() => new Response(JSON.stringify({ results }), { status: 500 }));
    expect(await send()).toMatchObject({ outcome: 'retry', status: 500 });
  });

  it.each([400, 413, 422])('of %i is one for all', async (status) => {
    const { send } = answering(() => new Response('{}', { status }));
    expect(await send()).toMatchObject({ outcome: 'rejected', status });
  });

  it.each([
    [401, 'refuses this page', 'authorize'],
    [403, 'refuses this page', 'origins'],
    [404, 'no relay', 'relay'],
    [405, 'no relay', 'relay'],
  ])('of %i names the option to look at', async (status, words, option) => {
    const { send } = answering(() => new Response('', { status }));
    expect(await send()).toMatchObject({
      outcome: 'blocked',
      status,
      problem: expect.stringMatching(new RegExp(`${words}.*${status}.*option \`${option}\``)),
    });
  });

  it('of 300 is what it is in direct mode', async () => {
    const { send } = answering(() => new Response('', { status: 300 }));
    expect(await send()).toMatchObject({ outcome: outcomeOf(300, ''), status: 300 });
  });

  it.each([
    ['a page', '<!doctype html>'],
    ["the service's own", '{"success":true,"message":"Event created"}'],
    ['no JSON', 'ok'],
    ['null', 'null'],
    ['a text as results', '{"results":"none"}'],
  ])('of 200 that is %s is no relay', async (_, body) => {
    const { send } = answering(() => new Response(body));
    expect(await send()).toMatchObject({ outcome: 'blocked', status: 200 });
  });

  it('of 200 that broke off has all sent again', async () => {
    const body = () => new ReadableStream({ start: (c) => c.error(new TypeError('reset')) });
    const { send } = answering(() => new Response(body()));
    expect(await send()).toMatchObject({ outcome: 'retry' });
  });

  it('of 200 whose results never end has all sent again', async () => {
    const start = new TextEncoder().encode('{"results":[{"id":"r0",');
    const body = () => new ReadableStream({ start: (controller) => controller.enqueue(start) });
    const { send } = answering(() => new Response(body()));
    const sent = send();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await sent).toMatchObject({ outcome: 'retry', status: 200 });
  });

  it('of 200 whose results came is believed, though its body never ends', async () => {
    const results = [{ id: 'r0', outcome: 'delivered', status: 200 }];
    const whole = new TextEncoder().encode(JSON.stringify({ results }));
    const body = () => new ReadableStream({ start: (controller) => controller.enqueue(whole) });
    const { send } = answering(() => new Response(body()));
    const sent = send(makeRecords(1));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await sent).toMatchObject([{ outcome: 'delivered', status: 200 }]);
  });

  it('that does not come has all sent again', async () => {
    const { send, fetch } = createRelay(vi.fn<Fetch>(() => new Promise(() => undefined)));
    const sent = send();
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await sent).toMatchObject({ outcome: 'retry', status: 0 });
    expect(fetch).toHaveBeenCalledTimes(1);
  });
});

describe('a page that goes', () => {
  const going = () => {
    const relay = createRelay();
    relay.state.isGoing = true;
    return relay;
  };

  it('gives its batch to a beacon, which is no delivery', async () => {
    const { send, beacon, fetch } = going();
    expect(await send(makeRecords(2))).toBeUndefined();
    expect(fetch).not.toHaveBeenCalled();
    expect(beacon.mock.calls[0]![0]).toBe('https://shop.test/a/v1/batch');
    expect(batchOf(beacon.mock.calls[0]![1]).records.map(({ id }) => id)).toEqual(['r0', 'r1']);
  });

  it('falls back to fetch where the browser takes no beacon', async () => {
    const { send, beacon, fetch } = going();
    beacon.mockReturnValue(false);
    void send(makeRecords(2));
    expect(fetch.mock.calls[0]![1].keepalive).toBe(true);
  });

  it('uses fetch, whose answer it can hear, while it is only hidden', async () => {
    const { send, beacon, fetch, state } = going();
    state.isGoing = false;
    await send(makeRecords(2));
    expect(beacon).not.toHaveBeenCalled();
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it('gives no beacon what the browser would not carry', () => {
    const { send, beacon, fetch } = going();
    void send(makeRecords(1), { keepalive: false });
    expect(beacon).not.toHaveBeenCalled();
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it('counts what beacons carry until no request of that time can be under way', async () => {
    const { send, sender } = going();
    await send(makeRecords(1), { size: 40_000 });
    expect(sender.room()).toBe(KEEPALIVE_BUDGET - 40_000);
    await vi.advanceTimersByTimeAsync(29_999);
    expect(sender.room()).toBe(KEEPALIVE_BUDGET - 40_000);
    await vi.advanceTimersByTimeAsync(1);
    expect(sender.room()).toBe(KEEPALIVE_BUDGET);
  });

  it('leaves alone what fails under way', async () => {
    const { send, state, fetch } = createRelay();
    state.wasLeft = true;
    fetch.mockRejectedValue(new TypeError('Failed to fetch'));
    expect(await send()).toBeUndefined();
    expect(fetch).toHaveBeenCalledTimes(1);
  });
});
