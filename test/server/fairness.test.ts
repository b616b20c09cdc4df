import { expect, it } from 'vitest';
import { createKnownIds } from '../../src/server/deliver/known-ids.js';
import { event, identify } from './support/records.js';
import { resultsOf, setUpRelay } from './support/relay.js';

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

it('does not forget the ids of others for a visitor who forges some', () => {
  const known = createKnownIds(() => 1_000_000, 200);
  const result = { id: 'x', outcome: 'delivered', status: 200 } as const;
  const mine = Array.from({ length: 5 }, (_, n) => `mine${n}`);
  for (const key of mine) known.keep(key, 'me', result);
  for (let n = 0; n < 400; n++) known.keep(`forged${n}`, 'another', result);
  expect(mine.map((key) => known.find(key))).toEqual(mine.map(() => result));
  expect(known.find('forged0')).toBeUndefined();
  expect(known.find('forged399')).toEqual(result);
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
