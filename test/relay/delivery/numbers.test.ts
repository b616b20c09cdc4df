import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createConsumer, createDelivery } from '../../../src/relay.js';
import { event } from '../helpers/records.js';
import { setUpRelay } from '../helpers/relay.js';
import { createMemoryQueue } from '../queue/memory-queue.js';
import { createSeenMemory } from '../../../src/relay/delivery/seen-memory.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

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
  const queue = createMemoryQueue();
  const seen = createSeenMemory();
  const [ofRelay, ofConsumer] = [createCount(), createCount()];
  const { service, batch } = setUpRelay({
    ...{ queue, seen, now: Date.now, onMetric: ofRelay.onMetric },
    rateLimit: { perSecond: 1, burst: 200 },
  });
  service.fails(400, { when: (name) => name.startsWith('refused') });
  service.fails(500, { when: (name) => name.startsWith('failing') });
  const toService = { baseUrl: 'http://service.test', token: 't', fetch: service.fetch };
  const consumer = createConsumer({
    ...{ queue, delivery: createDelivery({ ...toService, seen }), onMetric: ofConsumer.onMetric },
    random: () => 0.5,
  });
  const send = (records: readonly unknown[], client = '192.0.2.1') =>
    batch(records, { 'x-client': client });
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
  const comeBack = service.fails(503);
  const tried = service.got.length;
  const retried = ofConsumer.of('records out retry');
  for (let n = 0; n < 20; n++) await send(named(`late-${n}`, 5), `198.51.100.${n}`);
  await pass(30_000);
  expect(ofConsumer.of('records out retry') - retried).toBe(service.got.length - tried);
  comeBack();
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
