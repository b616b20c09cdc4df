import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type ConsumerOptions, makeConsumer } from '../../../src/server/deliver/consumer.js';
import type { Undelivered } from '../../../src/server/deliver/hand.js';
import type { StoreTarget } from '../../../src/server/deliver/targets.js';
import { makeDelivery, type DeliveryOptions } from '../../../src/server/deliver/delivery.js';
import type { Hooks, ServerError } from '../../../src/server/hooks.js';
import { createLibsqlQueue } from '../../../src/relay-libsql.js';
import type { Queue, QueuedRecord } from '../../../src/server/queue/ports.js';
import { fakeTime, pass } from '../../support/clock.js';
import { createFakeService, type Got } from '../helpers/fake-service.js';
import { makeIdentify, makeQueued } from '../queue/make-queued.js';

beforeEach(() => {
  fakeTime('setInterval', 'clearInterval');
  onTestFinished(() => void vi.useRealTimers());
  onTestFinished(() => void vi.restoreAllMocks());
});

const fresh = (user?: string): QueuedRecord => ({ ...makeQueued(user), at: Date.now() });
const isBad = (name: string) => name.startsWith('bad');
const named = (name: string, user?: string): QueuedRecord => {
  const record = fresh(user);
  const body = { ...record.body, event: name };
  return { ...record, body, text: JSON.stringify(body) };
};

/** Answers what is named slow after 9 seconds. */
const takesSlowly = ({ name, answer }: Got): boolean => {
  if (name === 'slow') setTimeout(answer, 9_000);
  return name === 'slow';
};

interface World {
  hold?: boolean;
  queue?: (queue: Queue) => Partial<Queue>;
  delivery?: Partial<DeliveryOptions>;
  consumer?: Partial<ConsumerOptions>;
  sizes?: Parameters<typeof makeConsumer>[1];
  maxPending?: number;
}

const createWorld = (world: World = {}) => {
  const service = createFakeService({ hold: world.hold ?? false });
  const memory = createLibsqlQueue({ path: ':memory:' });
  const queue = { ...memory, ...world.queue?.(memory) };
  const errors: ServerError[] = [];
  const metrics: Parameters<NonNullable<Hooks['onMetric']>>[] = [];
  const undelivered: Undelivered[] = [];
  const onError = (error: ServerError) => void errors.push(error);
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  const delivery = makeDelivery(
    {
      ...{ baseUrl: 'http://service.test', token: 't' },
      ...{ fetch: service.fetch, onError, ...world.delivery },
    },
    { maxPending: world.maxPending },
  );
  const consumer = makeConsumer(
    {
      ...{ queue, delivery, onError },
      onMetric: (...metric) => void metrics.push(metric),
      onUndelivered: (one) => void undelivered.push(one),
      ...world.consumer,
    },
    world.sizes,
  );
  onTestFinished(async () => {
    const stopped = consumer.stop();
    await pass(60_000); // no request takes longer
    await stopped;
    memory.close();
  });
  consumer.start();
  return {
    ...{ service, queue, errors, metrics, undelivered, consumer },
    put: (records: readonly QueuedRecord[]) => queue.put(records),
    size: () => memory.size(),
    dead: async () =>
      (await memory.deadLetters.list()).map(({ record, reason }) => ({ record, reason })),
  };
};

describe('a consumer', () => {
  it('has several batches under way, but no more than it is told', async () => {
    const { service, put } = createWorld({
      hold: true,
      sizes: { batchSize: 2, places: 4 },
    });
    await put(Array.from({ length: 20 }, () => fresh()));
    await pass(5_000);
    expect(service.got).toHaveLength(4);
    service.got.forEach(({ answer }) => answer());
    await pass(0);
    expect(service.got).toHaveLength(8);
    service.open();
    await pass(1_000);
    expect(service.got).toHaveLength(20);
  });

  it('leaves no more records in doubt than requests may be under way, if the queue cannot be told', async () => {
    const { service, put } = createWorld({
      queue: () => ({ done: () => Promise.reject(new Error('away')) }),
      delivery: { concurrency: 4 },
    });
    await put(Array.from({ length: 40 }, (_, n) => ({ ...fresh(), sender: `c${n}` })));
    await pass(60_000);
    expect(service.got).toHaveLength(4);
  });

  it('goes on after a queue that hangs, and delivers each record once', async () => {
    const hangs = new Set(['take', 'done', 'size']);
    const once = <Result>(name: string, work: () => Promise<Result>): Promise<Result> =>
      hangs.delete(name) ? new Promise<Result>(() => {}) : work();
    const { service, errors, put, size } = createWorld({
      queue: (memory) => ({
        take: (...args) => once('take', () => memory.take(...args)),
        done: (...args) => once('done', () => memory.done(...args)),
        size: () => once('size', () => memory.size!()),
      }),
      sizes: { ownMs: 30_000 },
    });
    await put([named('a')]);
    await pass(300_000);
    expect(service.names()).toEqual(['a']);
    expect(await size()).toEqual({ waiting: 0, dead: 0 });
    expect(new Set(errors.map(({ kind }) => kind))).toEqual(new Set(['queue']));
  });

  it('keeps the order of a user through a failure', async () => {
    const { service, put } = createWorld();
    let failures = 2;
    service.fails(503, { when: (name) => name === 'identify a' && failures-- > 0 });
    await put([
      { ...makeIdentify('a'), at: Date.now() },
      named('second', 'a'),
      named('other', 'b'),
    ]);
    await pass(60_000);
    const others = service.names().filter((name) => name !== 'identify a');
    expect(others).toEqual(['other', 'second']);
    expect(service.names().at(-1)).toBe('second');
    expect(service.got).toHaveLength(5);
  });

  it.each([
    [401, 'setup'],
    [0, 'unreachable'],
  ])(
    'keeps everything while the service answers %i, says so once, and goes on',
    async (status, kind) => {
      const { service, errors, undelivered, put, size } = createWorld();
      const heal = service.fails(status);
      await put(Array.from({ length: 100 }, () => fresh()));
      await pass(120_000);
      expect(service.got.length).toBeLessThan(50);
      expect(await size()).toMatchObject({ waiting: 100, dead: 0 });
      expect(errors.map((error) => error.kind)).toEqual([kind]);
      heal();
      await pass(60_000);
      expect(await size()).toEqual({ waiting: 0, dead: 0 });
      expect(undelivered).toEqual([]);
    },
  );

  it.each([403, 500])('lets one record answered %i hold up nobody', async (status) => {
    const { service, put, size } = createWorld();
    service.fails(status, { when: isBad });
    await put([named('bad')]);
    await pass(120_000);
    expect(service.got.length).toBeGreaterThan(5);
    expect(service.got.length).toBeLessThan(25);
    for (let n = 0; n < 30; n++) {
      await put([named(`good ${n}`)]);
      await pass(1_250); // a pause, and one look at an empty queue
      expect(await size()).toMatchObject({ waiting: 1 });
    }
    expect(service.names().filter((name) => name !== 'bad')).toHaveLength(30);
  });

  it('delivers all within half the time for which the service was away', async () => {
    const { service, put, size } = createWorld();
    const heal = service.fails(503);
    await put(Array.from({ length: 300 }, (_, i) => named(`e${i}`)));
    await pass(3_000);
    heal();
    await pass(1_750); // and one look at an empty queue
    expect(await size()).toMatchObject({ waiting: 0 });
    expect(service.got.length).toBeLessThan(320);
  });

  it('makes a dead letter of what the service refuses, and tells of it', async () => {
    const { service, undelivered, put, size, dead } = createWorld();
    service.fails(400, { when: isBad });
    const bad = named('bad', 'a');
    await put([bad, named('good', 'a')]);
    await pass(1_000);
    expect(await dead()).toEqual([{ record: bad, reason: 'rejected 400' }]);
    expect(undelivered).toEqual([{ record: bad, reason: 'rejected', status: 400 }]);
    expect(service.names().filter((name) => name === 'good')).toHaveLength(1);
    expect(await size()).toEqual({ waiting: 0, dead: 1 });
  });

  it('delivers a dead letter that is sent again once the service takes it, though it was refused', async () => {
    const { service, queue, put, size } = createWorld();
    const heal = service.fails(400);
    await put([fresh()]);
    await pass(1_000);
    heal();
    const letters = await queue.deadLetters.list();
    await queue.deadLetters.resend(letters.map(({ id }) => id));
    await pass(1_000);
    expect(await size()).toEqual({ waiting: 0, dead: 0 });
    const [first, second] = service.got.map(({ headers }) => headers['idempotency-key']);
    expect(second).toBe(first);
    expect(service.got).toHaveLength(2);
  });

  it.each([403, 500])(
    'makes a dead letter of what is too old once it was answered %i, and delivers the rest however old it is',
    async (status) => {
      const { service, undelivered, put, size, dead } = createWorld({
        consumer: { maxAge: 1_000 },
      });
      service.fails(status, { when: isBad });
      const [old, bad] = [
        { ...named('old'), at: 0 },
        { ...named('bad'), at: 0 },
      ];
      await put([old, bad]);
      await pass(500);
      expect(await dead()).toEqual([{ record: bad, reason: `expired ${status}` }]);
      expect(undelivered).toEqual([{ record: bad, reason: 'expired', status }]);
      expect(await size()).toEqual({ waiting: 0, dead: 1 });
    },
  );

  it('buries nothing when the clock is 8 days ahead, and goes on when it is set back by an hour', async () => {
    const { service, put, size, dead } = createWorld();
    const heal = service.fails(0);
    await put(Array.from({ length: 20 }, () => fresh()));
    vi.setSystemTime(Date.now() + 8 * 86_400_000);
    await pass(1_000);
    vi.setSystemTime(Date.now() - 8 * 86_400_000 - 3_600_000);
    await pass(60_000);
    heal();
    vi.setSystemTime(Date.now() + 3_600_000);
    await pass(60_000);
    expect(await dead()).toEqual([]);
    expect(await size()).toEqual({ waiting: 0, dead: 0 });
  });

  it('goes on when `onUndelivered` throws, and says so', async () => {
    const onUndelivered = () => {
      throw new Error('no');
    };
    const { errors, service, put, size } = createWorld({ consumer: { onUndelivered } });
    service.fails(400, { when: isBad });
    await put([named('bad'), fresh()]);
    await pass(1_000);
    expect(errors).toMatchObject([{ kind: 'hook' }]);
    expect(await size()).toEqual({ waiting: 0, dead: 1 });
  });

  it('delivers the records of others while one client sends what the service refuses to take', async () => {
    const { service, put } = createWorld();
    service.fails(500, { when: isBad });
    const good: string[] = [];
    for (let second = 0; second < 15; second++) {
      const name = `good ${second}`;
      good.push(name);
      await put(Array.from({ length: 50 }, () => ({ ...named('bad'), sender: 'stranger' })));
      await put([{ ...named(name), sender: `visitor ${second % 7}` }]);
      await pass(1_000);
      expect(service.names()).toContain(name);
    }
    const asked = service.names().filter((name) => name === 'bad').length;
    expect(asked).toBeLessThan(25);
  });

  it('delivers the records of others at once while a client sends more than the service takes of it', async () => {
    const { service, put, size } = createWorld({
      delivery: { concurrency: 8 },
      sizes: { batchSize: 8, places: 32 },
    });
    let isSlow = true;
    service.when((request) => isSlow && takesSlowly(request));
    const waits: number[] = [];
    const putAt = new Map<string, number>();
    service.when(({ headers, answer }) => {
      waits.push(Date.now() - putAt.get(headers['idempotency-key']!)!);
      setTimeout(answer, 20);
      return true;
    });
    for (let second = 0; second < 30; second++) {
      await put(Array.from({ length: 20 }, () => ({ ...named('slow'), sender: 'stranger' })));
      for (let n = 0; n < 20; n++) {
        const record = { ...named('good'), sender: `visitor ${n}` };
        putAt.set(record.id, Date.now());
        await put([record]);
        await pass(50);
      }
    }
    await pass(1_000);
    expect(waits).toHaveLength(600);
    // Until it is known that the client is slow, its records may hold all places for a second.
    expect(Math.max(...waits)).toBeLessThan(1_500);
    expect(waits.filter((ms) => ms > 600).length).toBeLessThan(30);
    const slow = () => service.names().filter((name) => name === 'slow').length;
    // It has a quarter of the 8 requests all the time.
    expect(slow()).toBeGreaterThanOrEqual(8);
    isSlow = false;
    putAt.clear();
    await pass(60_000);
    expect([slow(), await size()]).toEqual([600, { waiting: 0, dead: 0 }]);
  });

  it('has no more under way than its batches, and gives none back, while the service takes all slowly', async () => {
    const { service, queue, put, size } = createWorld({
      delivery: { concurrency: 8 },
      sizes: { batchSize: 8, places: 32, ownMs: 600_000 },
    });
    service.when(({ answer }) => {
      setTimeout(answer, 3_000);
      return true;
    });
    const giveBack = vi.spyOn(queue, 'giveBack');
    let [inHand, most] = [0, 0];
    const [take, done] = [queue.take, queue.done];
    queue.take = async (...args) => {
      const taken = await take(...args);
      most = Math.max(most, (inHand += taken.length));
      return taken;
    };
    queue.done = async (taken) => {
      inHand -= taken.length;
      return done(taken);
    };
    await put(Array.from({ length: 200 }, (_, n) => ({ ...fresh(), sender: `c${n % 50}` })));
    await pass(120_000);
    expect(await size()).toMatchObject({ waiting: 0 });
    expect(giveBack).not.toHaveBeenCalled();
    expect(most).toBeLessThanOrEqual(5 * 8);
  });

  it('keeps a place for records that have not failed while what has failed takes long', async () => {
    const { service, put } = createWorld({ delivery: { concurrency: 8 } });
    const bad = Array.from({ length: 60 }, (_, i) => named(`bad ${i}`));
    let isSlow = false;
    service.when(({ body, answer }) => {
      if (!String(body['event']).startsWith('bad')) return false;
      if (isSlow) setTimeout(() => answer(500), 5_000);
      else answer(500);
      return true;
    });
    for (const one of bad) {
      await put([one, fresh()]);
      await pass(300);
    }
    isSlow = true;
    await pass(20_000);
    for (let n = 0; n < 20; n++) {
      await put([named(`good ${n}`)]);
      await pass(1_000);
      expect(service.names()).toContain(`good ${n}`);
    }
  });

  it('tries what has failed again though there are always records that have not', async () => {
    const { service, put, size } = createWorld({
      sizes: { batchSize: 1, places: 2 },
    });
    let failures = 1;
    service.when(({ name, answer }) => {
      const status = name === 'once' && failures-- > 0 ? 500 : 200;
      setTimeout(() => answer(status), 50);
      return true;
    });
    await put([named('once'), ...Array.from({ length: 300 }, () => fresh())]);
    await pass(5_000);
    expect(service.names().filter((name) => name === 'once')).toHaveLength(2);
    expect((await size()).waiting).toBeGreaterThan(50);
  });

  it('tries at once what waits for itself when somebody says so', async () => {
    const { service, consumer, put, size } = createWorld();
    const heal = service.fails(500);
    await put([fresh()]);
    await pass(300_000);
    heal();
    consumer.tryNow();
    await pass(1_000);
    expect(await size()).toMatchObject({ waiting: 0 });
  });

  it('says at its start that the queue may lose records', async () => {
    const { errors } = createWorld({ queue: () => ({ check: async () => ['it may'] }) });
    await pass(0);
    expect(errors).toEqual([{ kind: 'storage', message: 'it may' }]);
  });

  it('tells what had to go because there was too much, once a minute', async () => {
    const { errors, metrics, put } = createWorld({
      queue: (memory) => ({
        bury: async (...args) => (await memory.bury(...args), { maxDead: 2 }),
      }),
      delivery: { fetch: async () => new Response('{}', { status: 400 }) },
    });
    await put([fresh(), fresh()]);
    await pass(1_000);
    const dropped = ['dropped', 2, { bound: 'maxDead' }];
    expect(metrics.filter(([name]) => name === 'dropped')).toEqual([dropped, dropped]);
    const message = expect.stringMatching(/^2 of the oldest dead letters/) as string;
    expect(errors).toEqual([{ kind: 'dropped', message }]);
  });

  it('counts as tries only what the service was asked', async () => {
    const { service, metrics, put } = createWorld();
    const heal = service.fails(503);
    for (let n = 0; n < 20; n++)
      await put(Array.from({ length: 5 }, () => ({ ...fresh(), sender: `c${n}` })));
    await pass(30_000);
    const sumOf = (outcome: string) =>
      metrics
        .filter(([name, , labels]) => name === 'records' && labels?.['outcome'] === outcome)
        .reduce((sum, [, value]) => sum + value, 0);
    // Most are given back untried, since the service is away.
    expect(service.got.length).toBeLessThan(50);
    expect(sumOf('retry')).toBe(service.got.length);
    heal();
    await pass(30_000);
    expect(sumOf('delivered')).toBe(100);
  });

  it('looks at an empty queue now and then only', async () => {
    const take = vi.fn(async () => []);
    createWorld({ queue: () => ({ take }) });
    await pass(10_000);
    expect(take.mock.calls.length).toBeGreaterThan(30);
    expect(take.mock.calls.length).toBeLessThanOrEqual(41);
  });

  it('is patient with a queue that fails, says so once, and goes on', async () => {
    let isBroken = true;
    const take = vi.fn();
    const { service, errors, put } = createWorld({
      queue: (memory) => ({
        take: async (...args) => {
          take();
          if (isBroken) throw new Error('gone');
          return memory.take(...args);
        },
      }),
    });
    await put([fresh()]);
    await pass(120_000);
    expect(take.mock.calls.length).toBeLessThan(20);
    expect(errors).toEqual([{ kind: 'queue', message: 'gone' }]);
    isBroken = false;
    await pass(31_000);
    expect(service.got).toHaveLength(1);
  });

  it('takes from the queue what was delivered though the queue failed at first', async () => {
    let failures = 12;
    const { service, put, size } = createWorld({
      sizes: { batchSize: 1, places: 4 },
      queue: (memory) => ({
        done: async (taken) => {
          if (failures-- > 0) throw new Error('gone');
          return memory.done(taken);
        },
      }),
    });
    await put([fresh(), fresh(), fresh(), fresh()]);
    await pass(300_000);
    expect(service.got).toHaveLength(4);
    expect(await size()).toEqual({ waiting: 0, dead: 0 });
  });

  it('keeps the place of what was delivered while the queue cannot be told, and sends none of it again', async () => {
    let isAway = true;
    const { service, errors, put, size } = createWorld({
      sizes: { batchSize: 2, places: 4, ownMs: 30_000 },
      queue: (memory) => ({
        done: async (taken) => {
          if (isAway) throw new Error('gone');
          return memory.done(taken);
        },
      }),
    });
    await put(Array.from({ length: 6 }, (_, n) => named(`e${n}`)));
    await pass(300_000); // the queue gives them again meanwhile
    expect(service.names()).toEqual(['e0', 'e1', 'e2', 'e3']);
    isAway = false;
    await pass(60_000);
    expect(service.names()).toEqual(['e0', 'e1', 'e2', 'e3', 'e4', 'e5']);
    expect(await size()).toEqual({ waiting: 0, dead: 0 });
    // It could be read for a moment after it had failed for the first time.
    expect(errors.length).toBeLessThanOrEqual(2);
  });

  it.each(['the clock is set back', 'the queue answers late'])(
    'starts no request after a third of the time for which the records are its own, though %s',
    async (what) => {
      const takenAt = new Map<string, number>();
      const since = (id: string) => performance.now() - takenAt.get(id)!;
      let delayMs = what === 'the queue answers late' ? 25_000 : 0;
      const { service, put } = createWorld({
        delivery: { concurrency: 1 },
        sizes: { ownMs: 30_000 },
        queue: (memory) => ({
          take: async (...args) => {
            const taken = await memory.take(...args);
            for (const { record } of taken) takenAt.set(record.id, performance.now());
            if (taken.length) await new Promise((resolve) => setTimeout(resolve, delayMs));
            if (taken.length) delayMs = 0;
            return taken;
          },
        }),
      });
      const startedAfter: number[] = [];
      service.when(({ headers, answer }) => {
        startedAfter.push(since(headers['idempotency-key']!));
        setTimeout(answer, 4_000);
        return true;
      });
      await put(Array.from({ length: 10 }, () => fresh()));
      await pass(2_000);
      if (what === 'the clock is set back') vi.setSystemTime(Date.now() - 3_600_000);
      await pass(120_000);
      expect(startedAfter).toHaveLength(10);
      expect(Math.max(...startedAfter)).toBeLessThanOrEqual(10_000);
    },
  );

  it('takes no record that it could not try, since too many are under way, for one that has failed', async () => {
    const { service, queue, metrics, put, dead } = createWorld({
      maxPending: 1,
      consumer: { maxAge: 1_000 },
    });
    const take = vi.spyOn(queue, 'take');
    await put([makeIdentify('a'), named('old', 'a'), named('b'), named('c')]);
    vi.setSystemTime(Date.now() + 60_000);
    await pass(30_000);
    expect(await dead()).toEqual([]);
    expect(service.names().sort()).toEqual(['b', 'c', 'identify a', 'old']);
    const delivered = ['records', 1, { side: 'out', outcome: 'delivered' }];
    expect(metrics.filter(([name]) => name === 'records')).toEqual(Array(4).fill(delivered));
    expect(take.mock.calls.length).toBeLessThan(200);
  });

  const HANGING: World = {
    hold: true,
    delivery: { timeout: 60_000 },
    sizes: { batchSize: 1, places: 1 },
  };

  it.each<[why: string, world: World]>([
    ['the service is away', {}],
    ['no more may be taken', HANGING],
  ])('can read its queue again after a measuring that failed, though %s', async (_, world) => {
    let isAway = false;
    const { service, consumer, put } = createWorld({
      ...world,
      queue: (memory) => ({
        size: async () => {
          if (isAway) throw new Error('gone');
          return memory.size!();
        },
      }),
    });
    if (!world.hold) service.fails(503, { headers: { 'retry-after': '600' } });
    await put([fresh(), fresh()]);
    await pass(1_000);
    isAway = true;
    await pass(9_500);
    expect(consumer.health().isReading).toBe(false);
    isAway = false;
    await pass(10_000);
    expect(consumer.health().isReading).toBe(true);
  });

  it('reads its queue again within 10 seconds after an outage of any length', async () => {
    let isAway = false;
    const ask = async <Result>(work: () => Promise<Result>): Promise<Result> => {
      if (isAway) throw new Error('gone');
      return work();
    };
    const { service, consumer, put } = createWorld({
      queue: (memory) => ({
        take: (...args) => ask(() => memory.take(...args)),
        size: () => ask(() => memory.size!()),
      }),
    });
    isAway = true;
    await put([fresh()]);
    for (const outageMs of [600_000, 607_000, 613_000]) {
      await pass(outageMs);
      expect(consumer.health().isReading).toBe(false);
      isAway = false;
      await pass(10_500);
      expect(consumer.health().isReading).toBe(true);
      isAway = true;
    }
    expect(service.got).toHaveLength(1);
  });

  it('finishes what is under way when it is stopped, and gives the rest back', async () => {
    const { service, queue, consumer, put } = createWorld({
      hold: true,
      delivery: { concurrency: 2 },
    });
    await put(Array.from({ length: 20 }, (_, i) => fresh(`u${i}`)));
    await pass(250);
    expect(service.got).toHaveLength(2);
    const stopped = consumer.stop();
    await pass(1);
    service.got.forEach(({ answer }) => answer());
    await stopped;
    expect(service.got).toHaveLength(2);
    expect(await queue.take(100, 1_000)).toHaveLength(18);
  });

  it('starts again after it was stopped', async () => {
    const { service, consumer, put } = createWorld();
    await consumer.stop();
    await put([fresh()]);
    await pass(1_000);
    expect(service.got).toHaveLength(0);
    consumer.start();
    await pass(1_000);
    expect(service.got).toHaveLength(1);
  });

  it('tells how full the queue is while it waits for a service that hangs', async () => {
    const { consumer, metrics, put } = createWorld(HANGING);
    await put([fresh()]);
    await pass(300);
    await put([fresh(), fresh()]);
    await pass(10_500);
    expect(consumer.health().queue).toMatchObject({ waiting: 3 });
    expect(metrics).toContainEqual(['queue_waiting', 3]);
    const [, oldest] = metrics.filter(([name]) => name === 'queue_oldest_ms').at(-1)!;
    expect(oldest).toBeGreaterThanOrEqual(10_000);
  });
});

describe('a consumer that empties its queue into a store', () => {
  type Write = StoreTarget['write'];
  const createStoreWorld = (write: Write) => {
    const written = vi.fn(write);
    const parts = createWorld({
      consumer: { delivery: undefined, store: { write: written }, maxAge: 1_000 },
    });
    const outcomes = () =>
      parts.metrics
        .filter(([name]) => name === 'records')
        .map(([, , labels]) => labels!['outcome']);
    return { ...parts, written, outcomes };
  };
  const all = (outcome: 'stored' | 'known' | 'dead') => async (records: readonly unknown[]) =>
    records.map(() => ({ outcome }));

  it('writes batches, and tells what became of them', async () => {
    const fates = ['stored', 'known', 'dead'] as const;
    const { written, size, put, outcomes } = createStoreWorld(async (records) =>
      records.map((_, n) => ({ outcome: fates[n]! })),
    );
    await put([fresh(), fresh(), fresh()]);
    await pass(1_000);
    expect(written).toHaveBeenCalledTimes(1);
    expect(outcomes()).toEqual(['delivered', 'delivered', 'rejected']);
    expect(await size()).toEqual({ waiting: 0, dead: 0 });
  });

  it('keeps all while the store is away, however old it is, and asks it less and less', async () => {
    let isAway = true;
    const { written, size, put, undelivered } = createStoreWorld(async (records) => {
      if (isAway) throw new Error('away');
      return all('stored')(records);
    });
    await put(Array.from({ length: 100 }, () => fresh()));
    await pass(600_000);
    expect(written.mock.calls.length).toBeLessThan(60);
    expect(await size()).toMatchObject({ waiting: 100, dead: 0 });
    isAway = false;
    await pass(300_000);
    expect(await size()).toEqual({ waiting: 0, dead: 0 });
    expect(undelivered).toEqual([]);
  });

  it('stores what waits within 15 seconds after an outage of any length', async () => {
    let isAway = true;
    const { size, put } = createStoreWorld(async (records) => {
      if (isAway) throw new Error('away');
      return all('stored')(records);
    });
    await put([fresh()]);
    await pass(3_600_000);
    isAway = false;
    await pass(15_000);
    expect(await size()).toEqual({ waiting: 0, dead: 0 });
  });

  it.each(['first', 'last'])(
    'stores the others of a batch in which the %s one always fails, and that one when it may be stored',
    async (place) => {
      let isPicky = true;
      const { size, put } = createStoreWorld(async (records) => {
        const hasBad = records.some(({ body }) => 'event' in body && isBad(body.event));
        await new Promise((resolve) => setTimeout(resolve, hasBad ? 10_000 : 5));
        if (isPicky && hasBad) throw new Error('statement timeout');
        return all('stored')(records);
      });
      const good = Array.from({ length: 40 }, () => fresh());
      await put(place === 'first' ? [named('bad'), ...good] : [...good, named('bad')]);
      // More keep coming, so that other batches pass meanwhile.
      for (let second = 0; second < 60; second++) {
        await pass(1_000);
        if (second < 40) await put([fresh()]);
      }
      expect(await size()).toMatchObject({ waiting: 1, dead: 0 });
      isPicky = false;
      await pass(300_000);
      expect(await size()).toEqual({ waiting: 0, dead: 0 });
    },
  );

  it('ends soon when it is stopped while it writes records one by one, and keeps the rest', async () => {
    let isAway = true;
    const { consumer, size, put } = createStoreWorld(async (records) => {
      if (isAway) throw new Error('away');
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      return all('stored')(records);
    });
    await put(Array.from({ length: 40 }, () => fresh()));
    await pass(1_000);
    isAway = false;
    await pass(5_000);
    let isStopped = false;
    void consumer.stop().then(() => (isStopped = true));
    await pass(5_000);
    expect(isStopped).toBe(true);
    const { waiting } = await size();
    expect(waiting).toBeGreaterThan(30);
    consumer.start();
    await pass(60_000);
    expect(await size()).toEqual({ waiting: 0, dead: 0 });
  });
});
