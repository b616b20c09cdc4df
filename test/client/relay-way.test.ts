// @vitest-environment happy-dom
import { describe, expect, it, vi } from 'vitest';
import type { RelayOptions } from '../../src/client/types.js';
import type { Batch, BatchRecord } from '../../src/interface/wire.js';
import { advance } from '../support/advance.js';
import { pageEach } from '../support/page-world.js';
import { settle } from '../support/settle.js';
import { readStored } from '../support/stored.js';

const page = pageEach();

const eventOf = ({ body }: BatchRecord) => (body as { event: string }).event;

/** A relay that passes on each id once. */
const createRelay = () => {
  const relay = {
    batches: [] as string[][],
    stored: new Map<string, string>(),
    rule: (() => 'answer') as () => 'answer' | 'hang' | 'lose',
    /** Records that another process is busy with. */
    busy: new Set<string>(),
    take: (body: string) => {
      const { records } = JSON.parse(body) as Batch;
      relay.batches.push(records.map(eventOf));
      const results = records.map((record) => {
        const { id } = record;
        if (relay.busy.has(eventOf(record))) return { id, outcome: 'retry', status: 409 };
        if (!relay.stored.has(id)) relay.stored.set(id, eventOf(record));
        return { id, outcome: 'delivered', status: 200 };
      });
      return { results };
    },
    fetch: (async (_: string, { body, signal }: RequestInit) => {
      const rule = relay.rule();
      const answer = rule === 'hang' ? undefined : relay.take(body as string);
      if (rule === 'answer') return new Response(JSON.stringify(answer));
      return new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(new Error('aborted')));
      });
    }) as typeof fetch,
    events: () => [...relay.stored.values()],
  };
  return relay;
};

const start = async (relay = createRelay(), parts: Partial<RelayOptions> = {}) => {
  const beacon = vi.fn((_: string, body: string) => !!relay.take(body));
  vi.spyOn(navigator, 'sendBeacon').mockImplementation(beacon as never);
  const { createTracker } = await import('../../src/client/analytics.js');
  const { relayWay } = await import('../../src/client/relay-way.js');
  const { analytics } = createTracker<Record<string, object>, object, RelayOptions>(relayWay);
  const relayed = { relay: 'https://shop.test/a', project: 'shop', channel: 'web' };
  analytics.init({ ...relayed, fetch: relay.fetch, ...parts });
  await settle();
  return { analytics, relay, beacon };
};

describe('a tracker that sends through a relay', () => {
  it('sends what was called together in one request', async () => {
    const { analytics, relay } = await start();
    for (const name of ['a', 'b', 'c']) analytics.event(name);
    await advance(1_100);
    expect(relay.batches).toEqual([['a', 'b', 'c']]);
    expect(analytics.status()).toMatchObject({ delivered: 3, waiting: 0, inFlight: 0 });
  });

  it('refuses a token in words', async () => {
    const { analytics } = await start();
    const options = { relay: '/a', token: 't', project: 'shop', channel: 'web' };
    expect(() => analytics.init(options as never)).toThrow(/`token`.*the relay holds it/);
  });

  it('sends again what has no answer in time, and it is stored once', async () => {
    const { analytics, relay } = await start(createRelay(), { timeout: 1_000 });
    relay.rule = () => (relay.batches.length === 0 ? 'lose' : 'answer');
    analytics.event('a');
    await advance(5_000);
    expect(relay.batches).toEqual([['a'], ['a']]);
    expect(relay.events()).toEqual(['a']);
    expect(analytics.status()).toMatchObject({ delivered: 1 });
  });

  it('keeps back only the record that another process is busy with', async () => {
    const { analytics, relay } = await start();
    relay.busy.add('a');
    for (const name of ['a', 'b']) analytics.event(name);
    await advance(1_100);
    expect(relay.batches[0]).toEqual(['a', 'b']);
    expect(analytics.status().paused).toBeUndefined();
    analytics.event('c');
    void analytics.flush();
    await settle();
    expect(relay.events()).toEqual(['b', 'c']);
    relay.busy.clear();
    await advance(10_000);
    expect(relay.events()).toEqual(['b', 'c', 'a']);
    expect(analytics.status()).toMatchObject({ delivered: 3, unknown: 0, waiting: 0 });
  });

  it('keeps apart what was made for another way to the same address', async () => {
    const { destinationName, addressOf } = await import('../../src/client/config/destination.js');
    const [relayed, direct] = [
      { relay: 'https://shop.test/a' },
      { baseUrl: 'https://shop.test/a' },
    ];
    expect(destinationName(addressOf(relayed), 'p')).not.toBe(
      destinationName(addressOf(direct), 'p'),
    );
  });
});

describe('a page that is left', () => {
  it('gives a beacon what waits, and none of it is unknown to the next page', async () => {
    const { analytics, relay, beacon } = await start();
    for (const name of ['a', 'b']) analytics.event(name);
    window.dispatchEvent(new Event('pagehide'));
    expect(beacon).not.toHaveBeenCalled(); // Firefox loses requests started here
    page.hide();
    expect(beacon).toHaveBeenCalledTimes(1);
    await settle();
    page.kill();

    const next = await start(relay);
    await advance(1_000);
    expect(relay.batches).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
    expect(relay.events()).toEqual(['a', 'b']);
    expect(next.analytics.status()).toMatchObject({ delivered: 2, unknown: 0, waiting: 0 });
    const [{ name }] = (await indexedDB.databases()) as [{ name: string }];
    expect((await readStored(name)).ids).toEqual([]);
    expect(Object.keys(localStorage)).toEqual([]);
  });

  it('uses a fetch whose answer it hears while it is only hidden', async () => {
    const { analytics, beacon } = await start();
    analytics.event('a');
    page.hide();
    await settle();
    expect(beacon).not.toHaveBeenCalled();
    expect(analytics.status()).toMatchObject({ delivered: 1 });
  });

  it('and comes back sends again what it gave a beacon, and it is stored once', async () => {
    const { analytics, relay } = await start();
    analytics.event('a');
    page.leave();
    await settle();
    page.comeBack();
    analytics.event('b');
    await advance(3_000);
    expect(relay.events().sort()).toEqual(['a', 'b']);
    expect(analytics.status()).toMatchObject({ delivered: 2, unknown: 0, waiting: 0 });
  });

  it('leaves what was in flight to the next page, which sends it again', async () => {
    const { analytics, relay } = await start(createRelay(), { flushAt: 1 });
    relay.rule = () => (relay.batches.length === 0 ? 'lose' : 'hang');
    analytics.event('stored');
    await settle();
    analytics.event('lost');
    await settle();
    page.leave();
    await settle();
    page.kill();
    relay.rule = () => 'answer';
    const next = await start(relay);
    await advance(1_000);
    expect(relay.events().sort()).toEqual(['lost', 'stored']);
    expect(next.analytics.status()).toMatchObject({ delivered: 2, unknown: 0 });
  });
});
