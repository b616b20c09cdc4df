import { afterEach, describe, expect, it, vi } from 'vitest';
import { taken } from '../../support/answers.js';
import { DIRECT, NAME, openSite, RELAY, sleep, track } from '../../support/site.js';

afterEach(() => vi.unstubAllGlobals());

describe('a hidden page', () => {
  it.each([
    ['by relay', RELAY],
    ['with keys', { ...DIRECT, idempotencyKey: true }],
    ['direct', DIRECT],
  ])('does not send again at each call while the service fails, %s', async (_, destination) => {
    const site = openSite();
    let requests = 0;
    const fetch = async () => (requests++, new Response('', { status: 503 }));
    const now = () => 1_000_000_000_000; // its pause does not end
    const { analytics } = track({ ...destination, flushInterval: 1, now, fetch });
    analytics.event('Tick');
    await vi.waitFor(() => expect(analytics.status().paused).toBe('backoff'));
    site.hide();
    await sleep(20);
    const before = requests;
    for (let i = 0; i < 30; i++) {
      analytics.event('Tick');
      await sleep(1);
    }
    analytics.stop();
    expect(requests - before).toBe(0);
  });

  it('sends nothing after a listener of `sent` has denied consent', async () => {
    const site = openSite();
    let requests = 0;
    const { analytics } = track({ ...DIRECT, fetch: () => (requests++, taken()) });
    analytics.on('sent', () => analytics.setConsent('denied'));
    for (let i = 0; i < 5; i++) analytics.event('Viewed');
    await sleep(20);
    site.hide();
    await sleep(20);
    analytics.stop();
    expect(requests).toBe(1);
  });
});

it('has nothing in its database when all visits have delivered all', async () => {
  const site = openSite();
  let time = 1_000_000_000_000;
  for (let i = 0; i < 5; i++) {
    const { analytics } = track({ ...DIRECT, now: () => time, flushInterval: 1, fetch: taken });
    analytics.event('Viewed');
    await vi.waitFor(() => expect(analytics.status().delivered).toBe(1));
    await sleep(120); // its end is written
    site.say(site.win, 'pagehide');
    site.hide();
    await sleep(20);
    analytics.stop();
    site.show();
    time += 600_000;
  }
  expect(await site.stored(NAME)).toEqual([]);
});

describe('a token function', () => {
  it('is asked at the first call, so that a page that is left soon hands off all', async () => {
    const site = openSite();
    const sent: string[] = [];
    const fetch = async (_: unknown, { body }: RequestInit = {}) => {
      sent.push((JSON.parse(body as string) as { event: string }).event);
      return taken();
    };
    const { analytics } = track({
      ...DIRECT,
      token: async () => 't',
      flushInterval: 60_000,
      fetch,
    });
    await sleep(50); // what a start looks for is over
    for (const name of ['one', 'two', 'three']) analytics.event(name);
    await sleep(0);
    site.hide();
    analytics.stop();
    expect(sent).toEqual(['one', 'two', 'three']);
  });
});
