import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  createDelivery,
  type Deliverable,
  type DeliveryOptions,
} from '../../../src/server/deliver/delivery.js';
import { createTell, type ServerError } from '../../../src/server/hooks.js';
import type { BatchRecord } from '../../../src/interface/wire.js';
import { createFakeService } from '../support/fake-service.js';
import { checked, event, identify } from '../support/records.js';

const setUp = (
  options: Partial<DeliveryOptions> = {},
  { hold = false, maxPending = 10_000 } = {},
) => {
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  onTestFinished(() => void vi.restoreAllMocks());
  const service = createFakeService({ hold });
  const errors: ServerError[] = [];
  const clock = { time: 1_000_000 };
  const delivery = createDelivery(
    {
      baseUrl: 'https://in.example.com/base/',
      token: 'secret',
      fetch: service.fetch,
      now: () => clock.time,
      ...options,
    },
    createTell({ onError: (error) => errors.push(error), ...options }),
    { maxPending },
  );
  const deliver = (records: readonly BatchRecord[], more: Partial<Deliverable> = {}) =>
    Promise.all(
      delivery.deliver(
        records.map((record) => ({ ...checked(record), ...more })),
        { until: clock.time + 10_000 },
      ),
    );
  /** Outcomes of events with these ids. */
  const outcomes = async (...ids: string[]) =>
    (await deliver(ids.map((id) => event(id)))).map(({ outcome }) => outcome);
  return { service, errors, clock, delivery, deliver, outcomes };
};

describe('a delivery', () => {
  it('passes records on with the token and the id, and nothing else', async () => {
    const { service, deliver } = setUp();
    const records = [identify('i1', 'u'), event('e1')];
    expect(await deliver(records)).toEqual([
      { id: 'i1', outcome: 'delivered', status: 200 },
      { id: 'e1', outcome: 'delivered', status: 200 },
    ]);
    const [first, second] = service.got;
    expect(first!.path).toBe('/base/v1/identify');
    expect(first!.body).toEqual({ project: 'p', user_id: 'u', properties: {} });
    expect(second!.path).toBe('/base/v1/event');
    expect(second!.headers).toEqual({
      authorization: 'Bearer secret',
      'content-type': 'application/json',
      'idempotency-key': 'e1',
      'x-record-from': 'browser',
    });
  });

  it('sends an identify before the later events of its user, and others beside it', async () => {
    const { service, deliver } = setUp({}, { hold: true });
    const records = [
      event('early', 'early', 'u'),
      identify('i1', 'u'),
      event('late', 'late', 'u'),
      identify('i2', 'u'),
      event('other', 'other', 'v'),
    ];
    const results = deliver(records);
    await service.arrived(3);
    expect(service.names()).toEqual(['early', 'identify u', 'other']);
    for (const { answer } of service.got) answer();
    await service.arrived(5);
    expect(service.names().slice(3)).toEqual(['late', 'identify u']);
    for (const { answer } of service.got.slice(3)) answer();
    expect((await results).map(({ id, outcome }) => [id, outcome])).toEqual(
      records.map(({ id }) => [id, 'delivered']),
    );
  });

  it.each([
    [503, 'retry'],
    [404, 'blocked'],
  ])('leaves a user behind an identify answered %i untried', async (status, outcome) => {
    const { service, deliver } = setUp();
    service.fails(status, { when: (name) => name.startsWith('identify') });
    const records = [identify('i', 'u'), event('e', 'e', 'u'), event('x', 'x', 'v')];
    expect(await deliver(records)).toMatchObject([
      { id: 'i', outcome, status },
      { id: 'e', outcome, status, untried: true },
      { id: 'x', outcome: 'delivered', status: 200 },
    ]);
    expect(service.names().sort()).toEqual(['identify u', 'x']);
  });

  it('gives repeats the first result, within a call, beside it and for a day after it', async () => {
    const { service, clock, deliver } = setUp({}, { hold: true });
    const first = deliver([event('a'), event('a', 'other')]);
    const beside = deliver([event('a')]);
    await service.arrived(1);
    service.got[0]!.answer(400, { code: 400 });
    const rejected = { id: 'a', outcome: 'rejected', status: 400 };
    expect(await first).toEqual([rejected, rejected]);
    expect(await beside).toEqual([rejected]);
    clock.time += 86_400_000 - 1;
    expect(await deliver([event('a')])).toEqual([rejected]);
    expect(service.got).toHaveLength(1);
  });

  it('delivers from a queue what it has refused before, since an operator wants it sent', async () => {
    const { service, clock, deliver } = setUp();
    const heal = service.fails(400);
    expect(await deliver([event('a')])).toMatchObject([{ outcome: 'rejected' }]);
    heal();
    expect(await deliver([event('a')])).toMatchObject([{ outcome: 'rejected' }]);
    const stored = { tries: 0, at: clock.time };
    expect(await deliver([event('a')], { stored })).toMatchObject([{ outcome: 'delivered' }]);
    expect(service.got).toHaveLength(2);
  });

  it('starts nothing after the deadline', async () => {
    const { service, clock, deliver } = setUp({ concurrency: 1 }, { hold: true });
    const results = deliver([event('a'), event('b')]);
    await service.arrived(1);
    clock.time += 10_000;
    service.got[0]!.answer();
    expect(await results).toEqual([
      { id: 'a', outcome: 'delivered', status: 200 },
      { id: 'b', outcome: 'retry', status: 0, untried: true },
    ]);
  });

  it('has no more records wait for the service than may: `retry` beyond, until there is room', async () => {
    const { service, delivery, deliver, outcomes } = setUp(
      { concurrency: 4 },
      { hold: true, maxPending: 5 },
    );
    const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const results = deliver(ids.map((id) => event(id)));
    await service.arrived(2);
    expect(delivery.waitMs()).toBe(2_000);
    service.open();
    const delivered = { outcome: 'delivered', status: 200 };
    const retry = { outcome: 'retry', status: 0, retry_after: 2, untried: true };
    expect(await results).toEqual(
      ids.map((id) => ({ id, ...(id === 'f' || id === 'g' ? retry : delivered) })),
    );
    expect(delivery.waitMs()).toBe(0);
    expect(await outcomes('f')).toEqual(['delivered']);
  });

  it('passes on how long the service wants to be left alone, and leaves it alone', async () => {
    const { service, clock, delivery, deliver } = setUp();
    const heal = service.fails(429, { headers: { 'retry-after': '7' } });
    expect(await deliver([event('a')])).toEqual([
      { id: 'a', outcome: 'retry', status: 429, retry_after: 9 },
    ]);
    expect(delivery.waitMs()).toBe(8_750);
    expect(await deliver([event('b')])).toEqual([
      { id: 'b', outcome: 'retry', status: 0, retry_after: 9, untried: true },
    ]);
    expect(service.got).toHaveLength(1);
    clock.time += 8_750;
    heal();
    expect((await deliver([event('b')]))[0]!.outcome).toBe('delivered');
    expect(delivery.waitMs()).toBe(0);
  });
});

describe('a client whose records the service takes slowly, or does not answer', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it.each([
    ['take 9 s, 50 a second', 50, 9_000, 16],
    ['get no answer, one a second', 1, 60_000, 8],
  ])('keeps nobody else from sending: its records %s', async (_, rate, slowMs, atLeast) => {
    let slow = 0;
    const fetch: DeliveryOptions['fetch'] = async (_, { headers }) => {
      const isSlow = headers['idempotency-key']!.startsWith('slow');
      if (isSlow) slow++;
      await new Promise((resolve) => setTimeout(resolve, isSlow ? slowMs : 20));
      return new Response('{"success":true}');
    };
    const { delivery, errors } = setUp({ fetch, now: Date.now });
    const deliver = (ids: readonly string[], sender: string) => {
      const records = ids.map((id) => checked(event(id), { sender }));
      return Promise.all(delivery.deliver(records, { until: Date.now() + 15_000 }));
    };
    const waits: number[] = [];
    for (let second = 0; second < 15; second++) {
      const ids = Array.from({ length: rate }, (_, n) => `slow-${second}-${n}`);
      void deliver(ids, 'stranger');
      for (let n = 0; n < 100; n++) {
        const calledAt = Date.now();
        void deliver([`good-${second}-${n}`], `visitor ${n}`).then(
          ([result]) => result!.outcome === 'delivered' && waits.push(Date.now() - calledAt),
        );
        await vi.advanceTimersByTimeAsync(10);
      }
    }
    await vi.advanceTimersByTimeAsync(1_000);
    expect(waits).toHaveLength(1_500);
    expect(Math.max(...waits)).toBeLessThan(200);
    expect(slow).toBeGreaterThanOrEqual(atLeast);
    expect(errors.filter(({ kind }) => kind === 'unreachable')).toEqual([]);
  });
});

describe('the token of a delivery', () => {
  it('is asked for again once when requests are refused together', async () => {
    let asked = 0;
    const { service, errors, outcomes } = setUp({
      token: () => `token-${++asked}`,
    });
    service.when(({ headers, answer }) => {
      const isOld = headers['authorization'] === 'Bearer token-1';
      if (isOld) answer(401, {});
      return isOld;
    });
    expect(await outcomes('a', 'b', 'c')).toEqual(['delivered', 'delivered', 'delivered']);
    expect(asked).toBe(2);
    expect(errors).toEqual([]);
  });

  it('that a function does not give keeps records, and is told once until it heals', async () => {
    let isBad = true;
    const { service, clock, errors, outcomes } = setUp({
      token: () => (isBad ? 'a\u2014secret' : 'secret'),
    });
    expect(await outcomes('a', 'b')).toEqual(['retry', 'retry']);
    expect(await outcomes('c')).toEqual(['retry']);
    expect(service.got).toEqual([]);
    expect(errors.map(({ kind }) => kind)).toEqual(['token']);
    expect(JSON.stringify(errors)).not.toContain('secret');
    isBad = false;
    clock.time += 60_000;
    expect(await outcomes('a')).toEqual(['delivered']);
    isBad = true;
    service.fails(401);
    clock.time += 60_000;
    await outcomes('d');
    expect(errors.map(({ kind }) => kind)).toEqual(['token', 'token']);
  });
});

describe('a service that gives no answer', () => {
  it('is told once, with the cause, until it answers whatever it says', async () => {
    let failure: Error | undefined = new TypeError('fetch failed', {
      cause: new Error('connect ECONNREFUSED 127.0.0.1:1'),
    });
    const { service, clock, errors, deliver } = setUp({
      fetch: (...args) => (failure ? Promise.reject(failure) : service.fetch(...args)),
    });
    const send = (...ids: string[]) => {
      clock.time += 300_000; // no pause is longer
      return deliver(ids.map((id) => event(id)));
    };
    const silences = () => errors.filter(({ kind }) => kind === 'unreachable');
    await send('a', 'b', 'c');
    await send('a');
    const told = {
      kind: 'unreachable',
      message: 'the service does not answer: fetch failed: connect ECONNREFUSED 127.0.0.1:1',
    };
    expect(silences()).toEqual([told]);
    failure = undefined;
    service.fails(500);
    await send('a');
    expect(silences()).toEqual([told]);
    failure = Object.assign(new AggregateError([], ''), { code: 'ENOTFOUND' });
    await send('a');
    expect(silences()).toEqual([
      told,
      { kind: 'unreachable', message: 'the service does not answer: ENOTFOUND' },
    ]);
  });

  it('is over with its first answer, though the clock was set back', async () => {
    const over: string[] = [];
    const onRecovery = ({ kind }: { kind: string }) => void over.push(kind);
    const { service, clock, delivery, outcomes } = setUp({ onRecovery });
    const heal = service.fails(0);
    await outcomes('a');
    heal();
    clock.time -= 500_000;
    delivery.tryNow();
    expect(await outcomes('a')).toEqual(['delivered']);
    expect(over).toEqual(['unreachable']);
  });

  it('is told once while answers to earlier requests come in', async () => {
    const { service, clock, errors, deliver } = setUp({}, { hold: true });
    const results = deliver([event('a'), event('b'), event('c')]);
    await service.arrived(3);
    clock.time += 1_000;
    service.got[0]!.fail();
    await new Promise((resolve) => setTimeout(resolve));
    service.got[1]!.answer();
    await new Promise((resolve) => setTimeout(resolve));
    service.got[2]!.fail();
    expect((await results).map(({ outcome }) => outcome)).toEqual(['retry', 'delivered', 'retry']);
    expect(errors).toEqual([
      { kind: 'unreachable', message: 'the service does not answer: failed' },
    ]);
  });

  it('is told of without the token, whatever a runtime says', async () => {
    const { errors, deliver } = setUp({
      fetch: () => Promise.reject(new TypeError('invalid header value "Bearer secret"')),
    });
    await deliver([event('a')]);
    expect(errors.map(({ message }) => message)).toEqual([
      'the service does not answer: invalid header value "Bearer …"',
    ]);
  });
});

describe('what is said of a refusal', () => {
  it.each([
    [`{"code":400,"message":"no secret${'!'.repeat(300)}"}`, `no …${'!'.repeat(196)}`],
    ['{"code":400,"message":{"a":1}}', undefined],
    ['{"code":400}', undefined],
    ['null', undefined],
    ['not good', undefined],
  ])('is passed on, in bounds and without the token: %s', async (body, message) => {
    const { deliver } = setUp({
      fetch: async () => new Response(body, { status: 400 }),
    });
    const refused = { outcome: 'rejected', status: 400 };
    expect(await deliver([event('a')])).toEqual([
      { id: 'a', ...refused, ...(message && { message }) },
    ]);
  });
});
