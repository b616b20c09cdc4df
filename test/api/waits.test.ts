import { describe, expect, it } from 'vitest';
import { pass, passUntil } from '../support/clock.js';
import { draw, names, openShop, WAYS, type Visit } from '../support/shop.js';
import type { Got } from '../support/service.js';

/** A wait is at least this long, and then half as long as the trouble has lasted. */
const SHORTEST_MS = 1_000;
const RETRY_AFTER_MS = 2_000;
const TOO_MANY = { status: 429, headers: { 'retry-after': '2' } };
/** How long the service takes where it is to be seen what goes beside a probe. */
const ANSWER_MS = 400;

const hasFailed = ({ heard }: Visit) => passUntil(() => heard.outcome[0]);
/** Milliseconds between two requests. */
const between = (requests: readonly Got[], from: number, to: number) =>
  requests[to]!.at - requests[from]!.at;

const expectFullWaits = (tries: readonly Got[]): void =>
  tries.slice(1).forEach(({ at }, i) => {
    const wait = Math.max(SHORTEST_MS, between(tries, 0, i) / 2);
    expect(at - tries[i]!.at).toBeGreaterThanOrEqual(wait);
    expect(at - tries[i]!.at).toBeLessThan(wait + 100);
  });

describe.each(WAYS)('after a failure, %s', (way) => {
  it('waits half as long as the trouble has lasted, with one probe at a time', async () => {
    const { receiver, visit, holds } = openShop(way);
    draw(1);
    receiver.faults([{ status: 500, times: 5 }]);
    const page = visit();
    page.track(['first']);
    await hasFailed(page);
    expect(page.heard.outcome[0]).toMatchObject({ outcome: 'retry', status: 500 });
    page.track(names(10));
    await holds(['first', ...names(10)]);
    const tries = receiver.requests.slice(0, 6);
    expect(tries.map(({ status }) => status)).toEqual([500, 500, 500, 500, 500, 200]);
    expectFullWaits(tries);
    expect(between(tries, 0, 5)).toBeLessThan(15_000);
  });

  it('sends nothing for as long as Retry-After says, then one probe, then more', async () => {
    const { receiver, visit, holds } = openShop(way);
    draw(0);
    receiver.faults([{ ...TOO_MANY, times: 1 }, { delay: ANSWER_MS }]);
    const page = visit();
    page.track(['first']);
    await hasFailed(page);
    page.track(names(19));
    await holds(['first', ...names(19)]);
    expect(between(receiver.requests, 0, 1)).toBeGreaterThanOrEqual(RETRY_AFTER_MS);
    expect(between(receiver.requests, 1, 2)).toBeGreaterThanOrEqual(ANSWER_MS);
    if (way !== 'by relay') {
      expect(receiver.requests).toHaveLength(21);
      expect(between(receiver.requests, 2, 3)).toBeLessThan(ANSWER_MS); // then two at a time
      expect(between(receiver.requests, 1, 20)).toBeLessThan(8 * ANSWER_MS);
    }
  });

  it('leaves the service alone for as long as it has asked, though the site clears localStorage', async () => {
    const { site, receiver, visit } = openShop(way);
    receiver.faults([{ status: 503, headers: { 'retry-after': '60' } }]);
    const { analytics, track, heard } = visit({ flushAt: 1 });
    track(['first']);
    await passUntil(() => heard.outcome[0]);
    const before = receiver.requests.length;
    receiver.faults([]);
    site.values.clear();
    track(names(25));
    expect(await analytics.flush()).toMatchObject({ waiting: 26 });
    await pass(30_000);
    expect(analytics.status()).toMatchObject({ paused: 'backoff', waiting: 26 });
    expect(receiver.requests).toHaveLength(before);
  });
});

it('waits by relay for as long as the service says', async () => {
  const { service, relay, visit, holds } = openShop('by relay');
  draw(0);
  service.faults([{ ...TOO_MANY, times: 1 }]);
  visit().track(['one']);
  await holds(['one']);
  expect(relay.requests).toHaveLength(2);
  expect(between(relay.requests, 0, 1)).toBeGreaterThanOrEqual(RETRY_AFTER_MS);
});

it('tries again and again though the browser says for ever that it is offline', async () => {
  const { receiver, visit, holds } = openShop();
  Object.assign(navigator, { onLine: false });
  receiver.faults([{ status: 503 }]);
  const { analytics, track } = visit();
  track(names(5));
  await passUntil(() => analytics.status().paused === 'offline');
  receiver.faults([]);
  await holds(names(5));
});

it('settles a flush although later calls are always under way', async () => {
  const { receiver, visit } = openShop();
  receiver.faults([{ delay: 1_500 }]);
  const { analytics, track } = visit();
  track(['before']);
  let flushed: unknown;
  void analytics.flush().then((result) => (flushed = result));
  for (let i = 0; i < 10 && !flushed; i++) {
    track(['later']);
    await pass(500);
  }
  expect(flushed).toMatchObject({ delivered: 2 }); // the first of the later ones goes along
});

it('sends a record alone that has failed often, however often that was', async () => {
  const { receiver, service, visit, online } = openShop('by relay');
  receiver.faults([{ status: 503 }]);
  const { track } = visit();
  track(['a', 'b', 'c']);
  await passUntil(() => receiver.requests.length === 3 * 32, 24 * 3_600_000);
  receiver.faults([]);
  online(); // no record waits for a delay of its own any more
  await passUntil(() => service.stored().length === 3);
  expect(receiver.requests.slice(-3).map(({ names }) => names.length)).toEqual([1, 1, 1]);
});
