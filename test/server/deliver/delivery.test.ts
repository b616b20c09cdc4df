import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  createDelivery,
  type DeliverOptions,
  type DeliveryOptions,
} from '../../../src/server/deliver/delivery.js';
import type { RelayError } from '../../../src/server/hooks.js';
import { createSeenMemory } from '../../../src/server/deliver/seen-memory.js';
import type { BatchRecord, BatchResult } from '../../../src/interface/wire.js';
import type { Send, SendResult } from '../../../src/server/deliver/upstream.js';
import { createFakeService } from '../helpers/fake-service.js';
import { event, identify } from '../helpers/records.js';

const setUp = (options: Partial<DeliveryOptions> = {}, { hold = false } = {}) => {
  const service = createFakeService({ hold });
  const errors: RelayError[] = [];
  const clock = { time: 1_000_000 };
  const delivery = createDelivery({
    baseUrl: 'https://in.example.com/base/',
    token: 'secret',
    seen: createSeenMemory({ now: () => clock.time }),
    fetch: service.fetch,
    now: () => clock.time,
    random: () => 0.5,
    onError: (error) => errors.push(error),
    ...options,
  });
  const deliver = (records: readonly BatchRecord[], options: Partial<DeliverOptions> = {}) =>
    delivery.deliver(records, { until: clock.time + 10_000, ...options });
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

  it('gives repeats the first result, within a call, beside it and after it', async () => {
    const { service, deliver } = setUp({}, { hold: true });
    const first = deliver([event('a'), event('a', 'other')]);
    const beside = deliver([event('a')]);
    await service.arrived(1);
    service.got[0]!.answer(400, { code: 400 });
    const rejected = { id: 'a', outcome: 'rejected', status: 400 };
    expect(await first).toEqual([rejected, rejected]);
    expect(await beside).toEqual([rejected]);
    expect(await deliver([event('a')])).toEqual([rejected]);
    expect(service.got).toHaveLength(1);
  });

  it('does not touch what another process has begun, and has no page wait for it', async () => {
    const seen = createSeenMemory();
    await seen.begin(['event:a:p'], 60_000);
    const { service, clock, deliver } = setUp({ seen });
    expect(await deliver([event('a'), event('b')], { until: clock.time + 1 })).toEqual([
      { id: 'a', outcome: 'retry', status: 409 },
      { id: 'b', outcome: 'delivered', status: 200 },
    ]);
    expect(service.names()).toEqual(['b']);
  });

  it('answers what another process makes of a record meanwhile', async () => {
    const seen = createSeenMemory();
    const [one, other] = [setUp({ seen }, { hold: true }), setUp({ seen })];
    const first = one.deliver([event('a')]);
    await one.service.arrived(1);
    const repeat = other.deliver([event('a')]);
    one.service.got[0]!.answer(400, { code: 400 });
    const rejected = [{ id: 'a', outcome: 'rejected', status: 400 }];
    expect([await first, await repeat]).toEqual([rejected, rejected]);
    expect(other.service.got).toEqual([]);
  });

  it('sends itself what another process gave up meanwhile', async () => {
    const seen = createSeenMemory();
    await seen.begin(['event:a:p'], 60_000);
    const { service, deliver } = setUp({ seen });
    const result = deliver([event('a')]);
    await seen.forget(['event:a:p']);
    expect(await result).toEqual([{ id: 'a', outcome: 'delivered', status: 200 }]);
    expect(service.got).toHaveLength(1);
  });

  it('sends no more records than it has slots before what was sent is marked', async () => {
    const seen = createSeenMemory();
    let mark = () => {};
    const marked = new Promise<void>((resolve) => (mark = resolve));
    const finish: typeof seen.finish = async (results) => {
      await marked;
      await seen.finish(results);
    };
    const { service, deliver } = setUp({ seen: { ...seen, finish }, concurrency: 2 });
    const results = deliver(['a', 'b', 'c', 'd', 'e'].map((id) => event(id)));
    await service.arrived(2);
    await new Promise((resolve) => setTimeout(resolve));
    expect(service.got).toHaveLength(2);
    mark();
    expect((await results).every(({ outcome }) => outcome === 'delivered')).toBe(true);
    expect(service.got).toHaveLength(5);
  });

  it('delivers from a queue what was only accepted, once', async () => {
    const seen = createSeenMemory();
    await seen.finish([{ id: 'event:a:p', outcome: 'accepted', status: 0 }]);
    const { service, deliver } = setUp({ seen });
    const options = { isQueued: true };
    const delivered = [{ id: 'a', outcome: 'delivered', status: 200 }];
    expect(await deliver([event('a')], options)).toEqual(delivered);
    expect(await deliver([event('a')], options)).toEqual(delivered);
    expect(service.got).toHaveLength(1);
  });

  it('sends an event whose identify was accepted before, as by a relay that had a queue', async () => {
    const seen = createSeenMemory();
    await seen.finish([{ id: 'identify:i:p', outcome: 'accepted', status: 0 }]);
    const { service, deliver } = setUp({ seen });
    const results = await deliver([identify('i', 'u'), event('a', 'a', 'u')]);
    expect(results.map(({ outcome }) => outcome)).toEqual(['accepted', 'delivered']);
    expect(service.names()).toEqual(['a']);
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
    const { delivery, errors } = setUp({ fetch, now: Date.now, seen: createSeenMemory() });
    const deliver = (ids: readonly string[], client: string) => {
      const records = ids.map((id) => event(id));
      return delivery.deliver(records, { until: Date.now() + 15_000, client });
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

describe('the pace of a delivery', () => {
  it('is not counted as time that the service takes', async () => {
    const times: unknown[] = [];
    const { service, clock, outcomes } = setUp({
      pace: async () => void (clock.time += 5_000),
      onMetric: (name, value) => name === 'upstream_ms' && times.push(value),
    });
    expect(await outcomes('a', 'b')).toEqual(['delivered', 'delivered']);
    expect([service.got.length, times]).toEqual([2, [0, 0]]);
  });

  it('keeps the record where it fails, and says why', async () => {
    const { service, errors, outcomes } = setUp({
      pace: () => Promise.reject(new Error('no turn')),
    });
    expect(await outcomes('a')).toEqual(['retry']);
    const words = 'the service does not answer: no turn';
    expect([service.got, errors.map(({ message }) => message)]).toEqual([[], [words]]);
  });
});

describe('what is said of a refusal', () => {
  it.each([
    [`{"code":400,"message":"no secret${'!'.repeat(300)}"}`, `no …${'!'.repeat(196)}`],
    ['{"code":400,"message":{"a":1}}', undefined],
    ['{"code":400}', undefined],
    ['null', undefined],
    ['not good', undefined],
  ])('is passed on, in bounds and without the token, and not kept: %s', async (body, message) => {
    const kept: BatchResult[] = [];
    const { deliver } = setUp({
      fetch: async () => new Response(body, { status: 400 }),
      seen: { ...createSeenMemory(), finish: async (results) => void kept.push(...results) },
    });
    const refused = { outcome: 'rejected', status: 400 };
    expect(await deliver([event('a')])).toEqual([
      { id: 'a', ...refused, ...(message && { message }) },
    ]);
    expect(kept).toEqual([{ id: 'event:a:p', ...refused }]);
  });
});

/** A delivery whose records go to a function, which keeps what it was given. */
const setUpSend = (answer: (records: readonly BatchRecord[]) => Promise<readonly SendResult[]>) => {
  const calls: { ids: string[]; how: Parameters<Send>[1] }[] = [];
  const send: Send = async (records, how) => {
    calls.push({ ids: records.map(({ id }) => id), how });
    return answer(records);
  };
  return { calls, ...setUp({ baseUrl: undefined, token: undefined, send, timeout: 50 }) };
};
const DELIVERED: SendResult = { outcome: 'delivered', status: 200 };

describe('a delivery to a function', () => {
  it('gives it a whole batch in one call, identifies too, in the order of the calls', async () => {
    const { calls, deliver } = setUpSend(async (records) => records.map(() => DELIVERED));
    const records = [identify('i1', 'u'), event('e1', 'A', 'u'), identify('i2', 'u'), event('e2')];
    const results = await deliver(records, { client: 'c' });
    expect(results.map(({ outcome }) => outcome)).toEqual(Array(4).fill('delivered'));
    expect(calls).toEqual([
      {
        ids: ['i1', 'e1', 'i2', 'e2'],
        how: { client: 'c', address: undefined, request: undefined },
      },
    ]);
  });

  it('gives each record its own result, and remembers only those that are final', async () => {
    const answers: Record<string, SendResult> = {
      good: DELIVERED,
      bad: { outcome: 'rejected', status: 422 },
      busy: { outcome: 'retry', status: 503, retryAfterMs: 3_000 },
    };
    const { calls, clock, deliver } = setUpSend(async (records) =>
      records.map(({ id }) => answers[id]!),
    );
    const batch = ['good', 'bad', 'busy'].map((id) => event(id));
    expect(await deliver(batch)).toMatchObject([
      { id: 'good', outcome: 'delivered' },
      { id: 'bad', outcome: 'rejected', status: 422 },
      { id: 'busy', outcome: 'retry', status: 503, retry_after: 4 },
    ]);
    clock.time += 10_000;
    answers['busy'] = DELIVERED;
    const again = await deliver(batch);
    expect(again.map(({ outcome }) => outcome)).toEqual(['delivered', 'rejected', 'delivered']);
    expect(calls.map(({ ids }) => ids)).toEqual([['good', 'bad', 'busy'], ['busy']]);
  });

  it.each<[how: string, answer: () => Promise<readonly SendResult[]>]>([
    ['throws', () => Promise.reject(new Error('the database is away'))],
    ['hangs', () => new Promise(() => {})],
    ['answers nothing', async () => []],
    ['answers no list', async () => null as never],
  ])('keeps all records where it %s, and pauses', async (_, answer) => {
    let isWell = false;
    const { clock, delivery, deliver } = setUpSend(async (records) =>
      isWell ? records.map(() => DELIVERED) : answer(),
    );
    const batch = [event('a'), event('b')];
    const results = await deliver(batch);
    expect(results.map(({ outcome }) => outcome)).toEqual(['retry', 'retry']);
    expect(delivery.waitMs()).toBeGreaterThan(0);
    isWell = true;
    clock.time += 10_000;
    const again = await deliver(batch);
    expect(again.map(({ outcome }) => outcome)).toEqual(['delivered', 'delivered']);
  });

  it('tells why it does not answer, once', async () => {
    const { errors, clock, deliver } = setUpSend(() =>
      Promise.reject(new Error('the database is away')),
    );
    await deliver([event('a')]);
    clock.time += 10_000;
    await deliver([event('a')]);
    expect(errors).toEqual([
      { kind: 'unreachable', message: 'the service does not answer: the database is away' },
    ]);
  });

  it('passes on what it says of a refusal, in bounds', async () => {
    const rejected = { outcome: 'rejected', status: 400 } as const;
    const { deliver } = setUpSend(async () => [{ ...rejected, message: 'x'.repeat(300) }]);
    expect(await deliver([event('a')])).toEqual([
      { id: 'a', ...rejected, message: 'x'.repeat(200) },
    ]);
  });
});
