import { expect, it } from 'vitest';
import { createDelivery } from '../../../src/relay/delivery/delivery.js';
import { createSeenMemory } from '../../../src/relay/delivery/seen-memory.js';
import { createFakeService } from '../helpers/fake-service.js';
import { event } from '../helpers/records.js';

const setUp = (pace: (clock: { time: number }) => Promise<void>) => {
  const service = createFakeService();
  const clock = { time: 1_000_000 };
  const times: unknown[] = [];
  const errors: string[] = [];
  const { deliver } = createDelivery({
    ...{ baseUrl: 'https://in.example.com', token: 'secret', seen: createSeenMemory() },
    ...{ fetch: service.fetch, now: () => clock.time, pace: () => pace(clock) },
    onMetric: (name, value) => name === 'upstream_ms' && times.push(value),
    onError: ({ message }) => errors.push(message),
  });
  return {
    ...{ service, times, errors },
    send: async (id: string) => (await deliver([event(id)], { until: 2_000_000 }))[0]!.outcome,
  };
};

it('does not count the wait before a request as the time that the service takes', async () => {
  const { service, times, send } = setUp(async (clock) => void (clock.time += 5_000));
  expect([await send('a'), await send('b')]).toEqual(['delivered', 'delivered']);
  expect([service.got.length, times]).toEqual([2, [0, 0]]);
});

it('sends nothing where the wait fails, says why, and keeps the record', async () => {
  const { service, errors, send } = setUp(() => Promise.reject(new Error('no turn')));
  expect(await send('a')).toBe('retry');
  expect([service.got, errors]).toEqual([[], ['the service does not answer: no turn']]);
});
