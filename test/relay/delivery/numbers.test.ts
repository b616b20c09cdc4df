import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createConsumer, createDelivery, createRelay } from '../../../src/relay.js';
import type { BatchAnswer, BatchRecord } from '../../../src/interface/wire.js';
import { createFakeService } from '../helpers/fake-service.js';
import { event } from '../helpers/records.js';
import { createMemoryQueue } from '../queue/memory-queue.js';
import { createMemorySeen } from '../queue/memory-seen.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const ORIGIN = 'https://shop.example';
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** Adds up what a relay and a consumer tell. */
const createCount = () => {
  const sums = new Map<string, number>();
  return {
    onMetric: (name: string, value: number, labels: Readonly<Record<string, string>> = {}) => {
      const key = [name, ...Object.values(labels)].join(' ');
      const isLevel = name.startsWith('queue_') || name === 'trouble';
      sums.set(key, isLevel ? value : (sums.get(key) ?? 0) + value);
    },
    of: (key: string) => sums.get(key) ?? 0,
  };
};

it('counts what was accepted, repeated, delivered, refused, tried again and given back as it stands in the store and at the service', async () => {
  const service = createFakeService();
  let isAway = false;
  service.when(({ body, answer }) => {
    const name = String(body['event']);
    if (isAway) answer(503);
    else if (name.startsWith('refused')) answer(400, { code: 400, message: 'no' });
    else if (name.startsWith('failing')) answer(500);
    else return false;
    return true;
  });
  const queue = createMemoryQueue();
  const toService = {
    ...{ baseUrl: 'http://service.test', token: 't', seen: createMemorySeen() },
    ...{ fetch: service.fetch, random: () => 0.5 },
  };
  const [ofRelay, ofConsumer] = [createCount(), createCount()];
  const relay = createRelay({
    ...toService,
    ...{ queue, origins: [ORIGIN], projects: ['p'], channels: ['c'] },
    ...{ rateLimit: { perSecond: 1, burst: 200 }, onMetric: ofRelay.onMetric },
    clientAddress: (request) => request.headers.get('x-client') ?? undefined,
  });
  const consumer = createConsumer({
    ...{ queue, delivery: createDelivery(toService), onMetric: ofConsumer.onMetric },
    random: () => 0.5,
  });
  const send = async (records: readonly BatchRecord[], client = '192.0.2.1') => {
    const response = await relay(
      new Request('https://shop.example/a/v1/batch', {
        method: 'POST',
        headers: { origin: ORIGIN, 'content-type': 'application/json', 'x-client': client },
        body: JSON.stringify({ sent_at: '', records }),
      }),
    );
    return response.status === 200 ? ((await response.json()) as BatchAnswer).results : [];
  };
  const named = (name: string, count: number) =>
    Array.from({ length: count }, (_, n) => event(`${name}-${n}`));

  const good = named('good', 20);
  const unlisted = named('unlisted', 2).map((one) => ({
    ...one,
    body: { ...one.body, channel: 'x' },
  }));
  await send(good);
  await send([...good.slice(0, 5), ...named('refused', 3)]); // five of them again
  await send([...named('failing', 2), ...unlisted, { ...event('wrong'), body: {} }], '192.0.2.2');
  expect(ofRelay.of('records in accepted') - ofRelay.of('seen_hits')).toBe(25);
  expect([ofRelay.of('seen_hits'), ofRelay.of('records in blocked')]).toEqual([5, 2]);
  expect(ofRelay.of('records in rejected')).toBe(1);
  expect(await queue.size!()).toMatchObject({ waiting: 25, dead: 0 });

  consumer.start();
  await pass(1_000);
  const namesOf = (name: string) => service.names().filter((one) => one.startsWith(name));
  expect(ofConsumer.of('records out delivered')).toBe(20);
  expect(namesOf('good')).toHaveLength(20);
  expect(ofConsumer.of('records out rejected')).toBe(3);
  expect(queue.dead).toHaveLength(3);
  await pass(60_000);
  expect(ofConsumer.of('records out retry')).toBe(namesOf('failing').length);

  // While the service is away, most records are given back untried: these are no tries.
  isAway = true;
  const tried = service.got.length;
  const retried = ofConsumer.of('records out retry');
  for (let n = 0; n < 20; n++) await send(named(`late-${n}`, 5), `198.51.100.${n}`);
  await pass(30_000);
  expect(ofConsumer.of('records out retry') - retried).toBe(service.got.length - tried);
  isAway = false;
  await pass(60_000);
  expect(ofConsumer.of('records out delivered')).toBe(120);

  const before = service.got.length;
  await consumer.stop();
  expect(service.got).toHaveLength(before);
  const size = await queue.size!();
  expect(size).toMatchObject({ waiting: 2, dead: 3 });
  expect(ofConsumer.of('queue_waiting')).toBe(size.waiting);
  expect(ofConsumer.of('queue_dead')).toBe(size.dead);
  expect(consumer.health().queue).toEqual(size);
});
