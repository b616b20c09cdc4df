import { afterEach, describe, expect, it, vi } from 'vitest';
import { answerEach, idsOf } from '../../support/answers.js';
import { DIRECT, openSite, RELAY, sleep, track } from '../../support/site.js';

afterEach(() => vi.unstubAllGlobals());

describe('a batch', () => {
  it('is not sent again when the relay refuses each record of it', async () => {
    openSite();
    const sent: string[][] = [];
    const fetch = async (_: unknown, request: RequestInit) => {
      sent.push(idsOf(request));
      return answerEach(request, { outcome: 'rejected', status: 400, field: 'notify' });
    };
    const { analytics } = track({ ...RELAY, flushInterval: 1, fetch: fetch as never });
    for (let i = 0; i < 20; i++) analytics.event('Wrong', { notify: 'yes' } as never);
    const flushed = await analytics.flush();
    analytics.stop();
    expect(flushed).toEqual({ delivered: 0, retried: 0, rejected: 20, waiting: 0 });
    expect(sent.map((ids) => ids.length)).toEqual([20]);
  });

  it.each([0, 6])('is as large after an outage in which the tab was hidden %i times', async (n) => {
    const site = openSite();
    let isDown = true;
    let time = 1_000_000_000_000;
    const sizes: number[] = [];
    const fetch = async (_: unknown, request: RequestInit) => {
      if (isDown) return new Response('', { status: 503 });
      sizes.push(idsOf(request).length);
      return answerEach(request, { outcome: 'delivered', status: 200 });
    };
    const now = () => time;
    const { analytics } = track({ ...RELAY, flushInterval: 1, now, fetch: fetch as never });
    for (let i = 0; i < 60; i++) analytics.event('Viewed');
    await analytics.flush();
    for (let i = 0; i < n; i++) {
      site.hide();
      await sleep(20);
      site.show();
      await sleep(20);
    }
    isDown = false;
    time += 30_000;
    await vi.waitFor(async () => {
      await analytics.flush();
      expect(analytics.status().delivered).toBe(60);
    }, 5_000);
    analytics.stop();
    expect(sizes.length).toBeLessThan(10);
  });
});

it.each(['denied', 'pending'] as const)(
  'closes no gate in localStorage once a listener has made consent %s',
  async (consent) => {
    const site = openSite();
    const fetch = async () => new Response('', { status: 503 });
    const { analytics } = track({ ...DIRECT, flushInterval: 1, fetch });
    analytics.on('outcome', () => analytics.setConsent(consent));
    analytics.event('Viewed');
    await vi.waitFor(() => expect(analytics.status().consent).toBe(consent));
    await sleep(20);
    analytics.stop();
    expect([...site.values.keys()].filter((key) => key.endsWith('gate'))).toEqual([]);
  },
);

describe('a destination that does not answer', () => {
  it('is tried twice at once the first time, and then once an attempt, with and without keepalive', async () => {
    openSite();
    const tries: unknown[] = [];
    const outcomes: string[] = [];
    let isBack = false;
    const fetch = async (_: unknown, request: RequestInit = {}) => {
      tries.push(request.keepalive);
      if (isBack) return answerEach(request, { outcome: 'delivered', status: 200 });
      throw new TypeError('blocked');
    };
    const { analytics } = track({ ...RELAY, flushInterval: 1, fetch });
    analytics.on('outcome', ({ outcome }) => outcomes.push(outcome));
    const fails = async (times: number) => {
      void analytics.flush();
      await vi.waitFor(() => expect(outcomes).toHaveLength(times), { timeout: 5_000 });
    };
    analytics.event('Viewed');
    for (let times = 1; times <= 3; times++) await fails(times);
    expect(tries).toEqual([true, false, false, true]);
    isBack = true;
    await vi.waitFor(() => expect(outcomes.at(-1)).toBe('delivered'), { timeout: 9_000 });
    analytics.stop();
  }, 20_000);
});

describe('a page of HTML', () => {
  const PAGE = '<html><h1>Request Header Or Cookie Too Large</h1></html>';
  const all = { ...RELAY, flushInterval: 1, now: () => Date.now() };

  it.each([400, 409, 413, 422])('loses no record, with status %i', async (status) => {
    for (const destination of [DIRECT, RELAY]) {
      openSite();
      let requests = 0;
      const fetch = async () => (requests++, new Response(PAGE, { status }));
      const { analytics } = track({ ...destination, flushInterval: 1, fetch });
      for (let i = 0; i < 3; i++) analytics.event('Viewed');
      await vi.waitFor(() => expect(analytics.status().paused).toBe('setup'));
      await sleep(20);
      expect(requests).toBeGreaterThan(0);
      expect(analytics.status()).toMatchObject({ waiting: 3, dropped: {} });
      analytics.stop();
    }
  });

  it('with 413 drops a record that is too large for anybody, once others have passed, and no other', async () => {
    openSite();
    let clock = Date.now();
    const drops: unknown[] = [];
    const fetch = async (_: unknown, request: RequestInit = {}) =>
      (request.body as string).includes('large')
        ? new Response(PAGE, { status: 413 })
        : answerEach(request, { outcome: 'delivered', status: 200 });
    const { analytics } = track({ ...all, now: () => clock, fetch });
    analytics.on('drop', ({ reason, record }) =>
      drops.push([reason, record?.body.includes('large')]),
    );
    for (const name of ['one', 'large', 'three', 'four']) analytics.event(name);
    const turn = async () => {
      clock += 10_000; // its pauses are over
      await Promise.race([analytics.flush(), sleep(200)]);
    };
    await vi.waitFor(
      async () => {
        await turn();
        expect(analytics.status().waiting).toBe(0);
      },
      { timeout: 8_000 },
    );
    analytics.stop();
    expect(drops).toEqual([['rejected', true]]);
    expect(analytics.status().waiting).toBe(0);
  }, 20_000);
});
