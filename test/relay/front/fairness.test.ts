import { describe, expect, it } from 'vitest';
import type { BatchAnswer } from '../../../src/interface/wire.js';
import { createSeenMemory } from '../../../src/relay/delivery/seen-memory.js';
import { runHeldService } from '../helpers/held-service.js';
import { event, identify } from '../helpers/records.js';
import { runRelay } from '../helpers/run-relay.js';

const events = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, i) => event(`${prefix}${i}`));
const resultsOf = async (response: Response | Promise<Response>) =>
  ((await (await response).json()) as BatchAnswer).results;

/** A relay that knows clients by a header, in front of a service that answers when it is told to. */
const runHeld = async () => {
  const upstream = await runHeldService();
  const memory = createSeenMemory();
  let claimed = 0;
  const waiting = new Set<{ count: number; resolve: () => void }>();
  const relay = await runRelay({
    baseUrl: upstream.url,
    deadline: 120_000, // on a slow machine, too
    clientAddress: (request) => request.headers.get('x-client') ?? undefined,
    seen: {
      ...memory,
      begin: async (ids, ...rest) => {
        const sightings = await memory.begin(ids, ...rest);
        claimed += ids.length;
        // After the relay has gone on with them.
        setImmediate(() => {
          for (const wait of waiting) if (claimed >= wait.count) wait.resolve();
        });
        return sightings;
      },
    },
  });
  return {
    upstream,
    from: (client: string, records: readonly unknown[]) =>
      relay.batch(records, { 'x-client': client }),
    /** Settles when the relay has taken so many records in. */
    taken: (count: number) =>
      new Promise<void>((resolve) => {
        if (claimed >= count) setImmediate(resolve);
        else waiting.add({ count, resolve });
      }),
  };
};

describe('a visitor with a thousand records', () => {
  it('does not keep the others waiting', async () => {
    const { upstream, from, taken } = await runHeld();
    const busy = Array.from({ length: 10 }, (_, i) => from('busy', events(`busy${i}-`, 100)));
    await taken(1_000);
    await upstream.arrived(4);
    const others = Array.from({ length: 8 }, (_, i) => from(`other${i}`, events(`other${i}-`, 1)));
    await taken(1_008);
    const before = upstream.got.length;
    upstream.open();
    for (const response of [...busy, ...others]) {
      expect((await resultsOf(response)).every(({ outcome }) => outcome === 'delivered')).toBe(
        true,
      );
    }
    const names = upstream.names();
    expect(new Set(names).size).toBe(1_008);
    // One turn for each of the nine clients; what is under way at a time may arrive in any order.
    const soon = names.slice(before, before + 9 + 32).filter((name) => name.startsWith('other'));
    expect(soon).toHaveLength(8);
  });
});

describe('a visitor who floods a user with identifies', () => {
  it('does not hold up what others send of that user, and each keeps its order', async () => {
    const { upstream, from, taken } = await runHeld();
    const flood = Array.from({ length: 100 }, (_, i) => identify(`forged${i}`, 'u'));
    const forged = from('192.0.2.66', flood);
    await taken(100);
    await upstream.arrived(1);
    const own = from('192.0.2.1', [identify('own', 'u'), event('later', 'later', 'u')]);
    await taken(102);
    await upstream.arrived(2);
    expect(upstream.names()).toEqual(['identify u', 'identify u']);
    upstream.got[1]!.pass();
    await upstream.arrived(3);
    expect(upstream.names()).toEqual(['identify u', 'identify u', 'later']);
    upstream.got[2]!.pass();
    expect((await resultsOf(own)).map(({ outcome }) => outcome)).toEqual([
      'delivered',
      'delivered',
    ]);
    upstream.open();
    const results = await resultsOf(forged);
    expect(results.every(({ outcome }) => outcome === 'delivered')).toBe(true);
    expect(upstream.got).toHaveLength(102);
  });
});

describe('a visitor with forged ids', () => {
  it('does not have the ids of the others forgotten', async () => {
    const { batch, service } = await runRelay({
      clientAddress: (request) => request.headers.get('x-client') ?? undefined,
      seen: createSeenMemory({ maxIds: 200 }),
      idempotencyKey: false, // so that the relay alone tells repeats
    });
    const mine = () => batch(events('mine', 5), { 'x-client': '192.0.2.1' });
    const first = await resultsOf(mine());
    for (let i = 0; i < 4; i++) {
      await batch(events(`forged${i}-`, 100), { 'x-client': '192.0.2.2' });
    }
    expect(await resultsOf(mine())).toEqual(first);
    const { events: rows } = await service.list('events', '?limit=1000');
    const stored = rows.map((row) => String(row['event'])).filter((name) => /^mine/.test(name));
    expect(stored.sort()).toEqual(events('mine', 5).map(({ id }) => id));
  });
});

describe('a service that begins to fail', () => {
  const runFailing = async (rule: object, { warm = 0 } = {}) => {
    const { service, batch } = await runRelay({}, { faults: true });
    if (warm) await batch(events('warm', warm));
    await service.send('/_/requests', { method: 'DELETE' });
    await service.setFaults(rule);
    return { service, batch };
  };

  it.each([0, 60])('meets 4 of 20 with its 429, after %i successes', async (warm) => {
    const rule = { status: 429, headers: { 'retry-after': '60' } };
    const { service, batch } = await runFailing(rule, { warm });
    const results = await resultsOf(batch(events('e', 20)));
    expect(results.map(({ outcome }) => outcome)).toEqual(Array(20).fill('retry'));
    expect(results.filter(({ status }) => status === 429)).toHaveLength(4);
    for (const { retry_after: wait } of results) expect(wait).toBeGreaterThanOrEqual(60);
    await service.setFaults();
    const next = await batch(events('f', 20));
    expect(next.status).toBe(503);
    expect(Number(next.headers.get('retry-after'))).toBeGreaterThanOrEqual(59);
    expect(await service.requests()).toHaveLength(4);
    expect(await service.events()).toHaveLength(warm);
  });

  it.each([
    ['503', { status: 503 }],
    ['429 without a wait', { status: 429 }],
    ['a reset', { reset: true }],
    ['404', { status: 404 }],
  ])('meets 4 of 20 in an outage: %s', async (_, rule) => {
    const { service, batch } = await runFailing(rule);
    const results = await resultsOf(batch(events('e', 20)));
    expect(results.some(({ outcome }) => outcome === 'delivered')).toBe(false);
    expect(results.filter(({ outcome }) => outcome === 'retry').length).toBeGreaterThanOrEqual(16);
    expect(await service.requests()).toHaveLength(4);
  });
});
