import { expect, it } from 'vitest';
import { createSeenMemory } from '../../src/server/deliver/seen-memory.js';
import { event, identify } from './helpers/records.js';
import { bodyOf, resultsOf, setUpRelay } from './helpers/relay.js';

const events = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, i) => event(`${prefix}${i}`));
it('does not have one visitor wait for what another sends of the same user, and keeps the order of each', async () => {
  const { service, batch } = setUpRelay({}, { hold: true });
  const from = async (client: string, records: readonly unknown[]) =>
    (await resultsOf(batch(records, { 'x-client': client }))).map(({ outcome }) => outcome);
  const flood = Array.from({ length: 100 }, (_, i) => identify(`forged${i}`, 'u'));
  const forged = from('192.0.2.66', flood);
  await service.arrived(1);
  const own = from('192.0.2.1', [identify('own', 'u'), event('later', 'later', 'u')]);
  await service.arrived(2);
  // The relay has taken in what it was given before: it has answered a later record, which it asks nobody about.
  expect(await from('last', [{ ...event('bad'), type: 'none' }])).toEqual(['rejected']);
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(service.names()).toEqual(['identify u', 'identify u']);
  service.got[1]!.answer();
  await service.arrived(3);
  expect(service.names()[2]).toBe('later');
  service.got[2]!.answer();
  expect(await own).toEqual(['delivered', 'delivered']);
  service.open();
  expect(await forged).toEqual(Array(100).fill('delivered'));
  expect(service.got).toHaveLength(102);
});

it('does not forget the ids of others for a visitor who forges some', async () => {
  const seen = createSeenMemory({ maxIds: 200, now: () => 1_000_000 });
  const { batch, service } = setUpRelay({ seen, rateLimit: false });
  const mine = async () => bodyOf(await batch(events('mine', 5)));
  const first = await mine();
  for (let i = 0; i < 4; i++) await batch(events(`forged${i}-`, 100), { 'x-client': '192.0.2.2' });
  expect(await mine()).toEqual(first);
  expect(service.names().filter((name) => name.startsWith('mine'))).toHaveLength(5);
});

it.each([0, 60])(
  'asks 2 of 20 of one visitor where the service answers 429, after %i successes',
  async (warm) => {
    const { service, batch } = setUpRelay();
    if (warm) await batch(events('warm', warm));
    service.fails(429, { headers: { 'retry-after': '60' } });
    const results = await resultsOf(batch(events('e', 20)));
    expect(results.map(({ outcome }) => outcome)).toEqual(Array(20).fill('retry'));
    expect(results.filter(({ status }) => status === 429)).toHaveLength(2);
    for (const { retry_after: wait } of results) expect(wait).toBeGreaterThanOrEqual(60);
    expect((await batch(events('f', 20))).status).toBe(503);
    expect(service.got).toHaveLength(warm + 2);
  },
);
