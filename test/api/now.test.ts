import { describe, expect, it } from 'vitest';
import type { Batch } from '../../src/interface/wire.js';
import { pass, passUntil } from '../support/clock.js';
import { names, openShop, WAYS } from '../support/shop.js';

/** Longer than a lease, and than the waits of these tests. */
const AHEAD_MS = 90_000;
const ahead = () => Date.now() + AHEAD_MS;

describe.each(WAYS)('a tab whose `now` is ahead, %s,', (way) => {
  it('takes nothing over from one whose is not, nor the other way round', async () => {
    const { receiver, visit, holds } = openShop(way);
    receiver.faults([{ delay: 4_000 }]);
    const all = [...names(15, 'ahead'), ...names(15, 'right')];
    visit({ now: ahead }).track(all.slice(0, 15));
    visit().track(all.slice(15));
    await holds(all, 60_000);
    expect(receiver.requests.flatMap((request) => request.names)).toHaveLength(all.length);
  });

  it('waits as long as the service has asked the other one to wait', async () => {
    const { receiver, visit } = openShop(way);
    receiver.faults([{ status: 503, headers: { 'retry-after': '60' } }]);
    const first = visit();
    first.track(['first']);
    await passUntil(() => first.heard.outcome[0]);
    const before = receiver.requests.length;
    const { analytics, track } = visit({ now: ahead });
    track(['second']);
    await pass(50_000);
    expect(receiver.requests).toHaveLength(before);
    expect(analytics.status().nextAttempt).toBeLessThan(ahead());
  });

  it('gives its calls the time that it has', async () => {
    const { service, relay, visit, holds } = openShop(way);
    const { track, heard } = visit({ now: ahead });
    const called = ahead();
    track(['one']);
    await holds(['one']);
    expect(heard.record[0]).toMatchObject({ at: called });
    expect(service.one('one')['timestamp']).toBe(new Date(called).toJSON());
    const [request] = relay.requests;
    const { sent_at } = JSON.parse((request?.init.body as string | undefined) ?? '{}') as Batch;
    if (way === 'by relay') expect(Date.parse(sent_at!)).toBeGreaterThanOrEqual(called);
  });
});
