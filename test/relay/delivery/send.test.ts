import { describe, expect, it } from 'vitest';
import type { Send, SendResult } from '../../../src/relay/delivery/upstream.js';
import { createDelivery } from '../../../src/relay/delivery/delivery.js';
import { createSeenMemory } from '../../../src/relay/delivery/seen-memory.js';
import type { RelayError } from '../../../src/relay/hooks.js';
import type { BatchRecord } from '../../../src/interface/wire.js';
import { event, identify } from '../helpers/records.js';

const DELIVERED: SendResult = { outcome: 'delivered', status: 200 };

/** A delivery whose records go to a function, which keeps what it was given. */
const setUp = (answer: (records: readonly BatchRecord[]) => Promise<readonly SendResult[]>) => {
  const calls: { ids: string[]; how: Parameters<Send>[1] }[] = [];
  const errors: RelayError[] = [];
  const clock = { time: 1_000_000 };
  const now = () => clock.time;
  const delivery = createDelivery({
    seen: createSeenMemory({ now }),
    now,
    random: () => 0.5,
    timeout: 50,
    onError: (error) => errors.push(error),
    send: async (records, how) => {
      calls.push({ ids: records.map(({ id }) => id), how });
      return answer(records);
    },
  });
  const deliver = (records: readonly BatchRecord[], client = 'c') =>
    delivery.deliver(records, { until: clock.time + 10_000, client });
  return { calls, errors, clock, delivery, deliver };
};

describe('a delivery to a function', () => {
  it('gives it a whole batch in one call, identifies too, in the order of the calls', async () => {
    const { calls, deliver } = setUp(async (records) => records.map(() => DELIVERED));
    const records = [identify('i1', 'u'), event('e1', 'A', 'u'), identify('i2', 'u'), event('e2')];
    const results = await deliver(records);
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
    const { calls, clock, deliver } = setUp(async (records) =>
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
    const { clock, delivery, deliver } = setUp(async (records) =>
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
    const { errors, clock, deliver } = setUp(() =>
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
    const { deliver } = setUp(async () => [{ ...rejected, message: 'x'.repeat(300) }]);
    expect(await deliver([event('a')])).toEqual([
      { id: 'a', ...rejected, message: 'x'.repeat(200) },
    ]);
  });
});
