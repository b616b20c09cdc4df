import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  createCloudflareQueue,
  createKvSeen,
  createQueueHandler,
  type DeadLetter,
  type KvNamespace,
  type PlatformMessage,
} from '../../../src/relay-cloudflare.js';
import type { Undelivered } from '../../../src/server/deliver/settle.js';
import { createDelivery } from '../../../src/server/deliver/delivery.js';
import type { QueuedRecord } from '../../../src/server/queue/ports.js';
import type { BatchResult } from '../../../src/interface/wire.js';
import { createFakeService } from '../helpers/fake-service.js';
import { makeQueued } from './make-queued.js';
import { createSeenMemory } from '../../../src/server/deliver/seen-memory.js';

/** A binding that refuses what the platform refuses. */
const createFakeBinding = <Body>({ failAfter = Infinity, takesMs = 0 } = {}) => {
  const sent: Body[][] = [];
  return {
    sent,
    sendBatch: async (messages: Iterable<{ body: Body }>) => {
      const bodies = [...messages].map(({ body }) => body);
      const sizes = bodies.map((body) => new TextEncoder().encode(JSON.stringify(body)).length);
      if (takesMs) await new Promise((resolve) => setTimeout(resolve, takesMs));
      if (sent.length >= failAfter) throw new Error('Queue sendBatch failed');
      if (bodies.length > 100) throw new Error('batch message count exceeds the limit of 100');
      if (sizes.reduce((sum, size) => sum + size + 100, 0) > 256_000) throw new Error('too large');
      sent.push(bodies);
    },
  };
};

describe('the queue on Cloudflare', () => {
  it('puts records in their order, in batches of the size the platform takes', async () => {
    const binding = createFakeBinding<QueuedRecord>();
    const records = Array.from({ length: 250 }, () => makeQueued());
    await createCloudflareQueue(binding).put(records);
    expect(binding.sent.map(({ length }) => length)).toEqual([100, 100, 50]);
    expect(binding.sent.flat()).toEqual(records);
  });

  it('counts bytes, not letters', async () => {
    const binding = createFakeBinding<QueuedRecord>();
    const records = Array.from({ length: 20 }, () => {
      const record = makeQueued();
      return { ...record, body: { ...record.body, description: 'é'.repeat(25_000) } };
    });
    await createCloudflareQueue(binding).put(records);
    expect(binding.sent.flat()).toHaveLength(20);
    expect(binding.sent.map(({ length }) => length)).toEqual([5, 5, 5, 5]);
  });

  it('rejects when any batch was not taken', async () => {
    const binding = createFakeBinding<QueuedRecord>({ failAfter: 1 });
    const records = Array.from({ length: 150 }, () => makeQueued());
    await expect(createCloudflareQueue(binding).put(records)).rejects.toThrow('sendBatch failed');
  });
});

/** As documented: no life under 60 s, and what was read before may be read for a while. */
const createFakeKv = () => {
  const values = new Map<string, { value: string; until: number }>();
  let time = 0;
  const kv: KvNamespace = {
    get: async (key) => {
      const known = values.get(key);
      return known && known.until > time ? known.value : null;
    },
    put: async (key, value, { expirationTtl }) => {
      if (!Number.isInteger(expirationTtl) || expirationTtl < 60) {
        throw new Error(`Invalid expiration_ttl of ${expirationTtl}`);
      }
      values.set(key, { value, until: time + expirationTtl * 1_000 });
    },
    delete: async (key) => void values.delete(key),
  };
  return { ...kv, values, pass: (ms: number) => (time += ms) };
};

describe('the seen ids on Cloudflare', () => {
  const delivered = (id: string): BatchResult => ({ id, outcome: 'delivered', status: 200 });

  it('tells a repeat that comes later', async () => {
    const seen = createKvSeen({ namespace: createFakeKv() });
    expect(await seen.begin(['a', 'b'], 5_000.5)).toEqual([{ state: 'new' }, { state: 'new' }]);
    expect(await seen.begin(['a'], 5_000)).toEqual([{ state: 'begun' }]);
    await seen.finish([delivered('a')]);
    expect(await seen.begin(['a'], 5_000)).toEqual([{ state: 'done', result: delivered('a') }]);
    await seen.forget(['b']);
    expect(await seen.begin(['b'], 5_000)).toEqual([{ state: 'new' }]);
  });

  it('ends a claim after a minute at the earliest, and keeps a result', async () => {
    const namespace = createFakeKv();
    const seen = createKvSeen({ namespace, maxAge: 3_600_000 });
    await seen.begin(['a', 'b'], 1_000);
    await seen.finish([delivered('b')]);
    namespace.pass(59_000);
    expect(await seen.begin(['a'], 1_000)).toEqual([{ state: 'begun' }]);
    namespace.pass(2_000);
    expect(await seen.begin(['a', 'b'], 1_000)).toMatchObject([
      { state: 'new' },
      { state: 'done' },
    ]);
    namespace.pass(3_600_000);
    expect(await seen.begin(['b'], 1_000)).toEqual([{ state: 'new' }]);
  });

  it('keeps what it can when one write fails, and says so', async () => {
    const namespace = createFakeKv();
    const put: KvNamespace['put'] = async (key, ...rest) => {
      if (key === 'seen:a') throw new Error('429 Too Many Requests');
      return namespace.put(key, ...rest);
    };
    const seen = createKvSeen({ namespace: { ...namespace, put } });
    await expect(seen.finish([delivered('a'), delivered('b')])).rejects.toThrow('429');
    expect(namespace.values.has('seen:b')).toBe(true);
  });
});

interface Fate {
  ack?: boolean;
  delaySeconds?: number;
}

const createBatch = (records: readonly QueuedRecord[], attempts = 1) => {
  const fates = new Map<string, Fate>();
  const messages = records.map((body): PlatformMessage<QueuedRecord> => ({
    id: `message ${body.id}`,
    body,
    attempts,
    ack: () => void fates.set(body.id, { ack: true }),
    retry: ({ delaySeconds = 0 } = {}) => void fates.set(body.id, { delaySeconds }),
  }));
  return { batch: { queue: 'records', messages }, fateOf: ({ id }: QueuedRecord) => fates.get(id) };
};

const createWorld = ({ dead = {}, maxAge = 1_000_000 } = {}) => {
  const service = createFakeService();
  const deadLetters = createFakeBinding<DeadLetter>(dead);
  const undelivered: Undelivered[] = [];
  const now = () => 1_000_000;
  const random = () => 0.5;
  const delivery = createDelivery({
    ...{ baseUrl: 'http://service.test', token: 't', seen: createSeenMemory({ now }) },
    ...{ fetch: service.fetch, now, random },
  });
  const handle = createQueueHandler({
    ...{ delivery, deadLetters, maxAge, now, random },
    onUndelivered: (one) => void undelivered.push(one),
  });
  return { service, handle, deadLetters, undelivered };
};

describe('the handler of a queue on Cloudflare', () => {
  it.each([
    { status: 429, headers: { 'retry-after': '120' }, attempts: 1, delaySeconds: 150 },
    { status: 401, headers: {}, attempts: 1, delaySeconds: 1 },
    // Half of its age, by a random factor of three quarters.
    { status: 503, headers: {}, attempts: 9, delaySeconds: 75 },
  ])('gives back what is answered $status, and that alone', async (answer) => {
    const { handle, service } = createWorld();
    service.fails(answer.status, { headers: answer.headers, when: (name) => name === 'bad' });
    const good = makeQueued('a');
    const bad = { ...good, id: 'bad', at: 800_000, body: { ...good.body, event: 'bad' } };
    const { batch, fateOf } = createBatch([good, bad], answer.attempts);
    await handle(batch);
    const { delaySeconds } = answer;
    expect([fateOf(good), fateOf(bad)]).toEqual([{ ack: true }, { delaySeconds }]);
  });

  it('moves what is refused, and what fails and is too old, to the dead letters, and tells of it', async () => {
    const { handle, service, deadLetters, undelivered } = createWorld({ maxAge: 500_000 });
    service.when(({ body, answer }) => (answer(body['user_id'] === 'a' ? 400 : 500), true));
    const [refused, old] = [{ ...makeQueued('a'), at: 900_000 }, makeQueued('b')];
    const { batch, fateOf } = createBatch([refused, old]);
    await handle(batch);
    expect([fateOf(refused), fateOf(old)]).toEqual([{ ack: true }, { ack: true }]);
    expect(deadLetters.sent.flat()).toEqual([
      { record: refused, reason: 'rejected 400' },
      { record: old, reason: 'expired 500' },
    ]);
    expect(undelivered.map(({ reason }) => reason)).toEqual(['rejected', 'expired']);
    expect(service.got).toHaveLength(2);
  });

  /** Has a record become a dead letter of a queue that behaves like this. */
  const bury = async (dead: object) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { handle, service, undelivered } = createWorld({ dead });
    service.fails(400);
    const record = makeQueued('a');
    const { batch, fateOf } = createBatch([record]);
    const handling = handle(batch);
    await vi.runAllTimersAsync();
    await handling;
    return { fate: fateOf(record), undelivered };
  };

  it.each([
    ['could not be moved', { failAfter: 0 }],
    ['is not moved in time', { takesMs: 60_000 }],
  ])('keeps a record that %s to the dead letters', async (_, dead) => {
    const { fate, undelivered } = await bury(dead);
    expect(fate).toEqual({ delaySeconds: 60 });
    expect(undelivered).toEqual([]);
  });

  it('gives a slow queue of dead letters its time, so that no record is moved there again and again', async () => {
    const { fate, undelivered } = await bury({ takesMs: 20_000 });
    expect(fate).toEqual({ ack: true });
    expect(undelivered).toMatchObject([{ reason: 'rejected', status: 400 }]);
  });
});
