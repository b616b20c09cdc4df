import { describe, expect, it, vi } from 'vitest';
import type { Batch } from '../../../src/interface/wire.js';
import { pass, passUntil } from '../../support/clock.js';
import { names, openShop } from '../../support/shop.js';

describe('a batch', () => {
  it('goes in few requests after a failure, since its records wait equally long', async () => {
    const { relay, visit } = openShop('by relay');
    relay.faults([{ status: 503 }]);
    const { analytics, track } = visit();
    track(names(60));
    await passUntil(() => analytics.status().paused === 'backoff');
    relay.faults([]);
    await passUntil(() => analytics.status().delivered === 60, 60_000);
    const sizes = relay.requests.map(
      ({ init }) => (JSON.parse(init.body as string) as Batch).records.length,
    );
    // The first one fails. The ten that were not in it go first.
    expect(sizes).toEqual([50, 1, 2, 4, 3, 16, 25, 9]);
  });

  it('is as large after an outage in which the tab was hidden often', async () => {
    const { site, visit } = openShop('by relay');
    let isDown = true;
    const sizes: number[] = [];
    const fetch = async (_: unknown, { body }: RequestInit) => {
      if (isDown) return new Response('', { status: 503 });
      const { records } = JSON.parse(body as string) as Batch;
      sizes.push(records.length);
      const results = records.map(({ id }) => ({ id, outcome: 'delivered', status: 200 }));
      return Response.json({ results });
    };
    const { analytics, track } = visit({ fetch });
    track(names(60));
    await passUntil(() => analytics.status().paused === 'backoff');
    for (let i = 0; i < 6; i++) {
      site.hide();
      await pass(20);
      site.show();
      await pass(20);
    }
    isDown = false;
    vi.setSystemTime(Date.now() + 30_000); // all are due
    await passUntil(() => analytics.status().delivered === 60, 60_000);
    expect(sizes.length).toBeLessThan(10);
  });
});

it.each(['denied', 'pending'] as const)(
  'closes no gate in localStorage once a listener has made consent %s',
  async (consent) => {
    const { site, service, visit } = openShop();
    service.faults([{ status: 503 }]);
    const { analytics, heard, track } = visit();
    analytics.on('outcome', () => analytics.setConsent(consent));
    track(['Viewed']);
    await passUntil(() => heard.outcome.length > 0);
    await pass(100);
    expect(analytics.status().consent).toBe(consent);
    expect([...site.values.keys()].filter((key) => key.endsWith('gate'))).toEqual([]);
  },
);

describe('a destination that does not answer', () => {
  it('is tried twice at once the first time, and then once an attempt, with and without keepalive', async () => {
    const { relay, visit } = openShop('by relay');
    relay.faults([{ reset: true }]);
    const { heard, track } = visit();
    track(['Viewed']);
    await passUntil(() => heard.outcome.length === 3, 60_000);
    expect(relay.requests.map(({ init }) => init.keepalive)).toEqual([true, false, false, true]);
    relay.faults([]);
    await passUntil(() => heard.outcome.at(-1)!.outcome === 'delivered', 60_000);
  });
});

describe('a page of HTML', () => {
  const body = '<html><h1>Request Header Or Cookie Too Large</h1></html>';

  it.each([400, 409, 413, 422])('loses no record, with status %i', async (status) => {
    for (const way of ['direct', 'by relay'] as const) {
      const { receiver, visit } = openShop(way);
      receiver.faults([{ status, body }]);
      const { analytics, track } = visit();
      track(names(3));
      await passUntil(() => analytics.status().paused === 'setup');
      await pass(20);
      expect(analytics.status()).toMatchObject({ waiting: 3, dropped: {} });
      analytics.stop();
    }
  });

  it('with 413 drops a record that is too large for anybody, once others have passed, and no other', async () => {
    const { relay, visit, holds } = openShop('by relay');
    relay.faults([{ event: 'large', status: 413, body }]);
    const { analytics, heard, track } = visit();
    track(['one', 'large', 'three', 'four']);
    for (let turns = 0; turns < 20 && !heard.drop.length; turns++) {
      vi.setSystemTime(Date.now() + 10_000); // all are due
      void analytics.flush();
      await pass(200);
    }
    await holds(['one', 'three', 'four'], 60_000);
    expect(heard.drop).toMatchObject([{ reason: 'rejected' }]);
    expect(heard.drop[0]!.record!.body).toContain('large');
  });
});
