import { describe, expect, it, vi } from 'vitest';
import { pass, passUntil } from '../support/clock.js';
import { draw, names, openShop, WAYS } from '../support/shop.js';
import { BASE_URL, TOKEN } from '../support/site.js';

/** Longer than any wait after a failure. */
const LATER_MS = 301_000;

it('keeps all while the token is wrong, says so once, and goes on with a new one', async () => {
  const { service, visit, options, holds } = openShop();
  const { analytics, track, heard } = visit({ token: 'wrong' });
  track(names(20));
  await passUntil(() => heard.error.length);
  track(names(20, 'later'));
  await analytics.flush();
  expect(service.names()).toEqual([]);
  expect(analytics.status()).toMatchObject({ paused: 'setup', waiting: 40, inFlight: 0 });
  analytics.init(options);
  await holds([...names(20), ...names(20, 'later')]);
  expect(heard.error).toMatchObject([
    {
      kind: 'setup',
      status: 401,
      message: expect.stringContaining(`${BASE_URL}/v1/event: 401`) as string,
    },
  ]);
  expect(heard.drop).toEqual([]);
});

const REFUSALS = [
  ...WAYS.flatMap((way) => [401, 403].map((status) => [status, way] as const)),
  ...[404, 405].map((status) => [status, 'direct'] as const),
];
it.each(REFUSALS)('goes on by itself when what answered %i heals, %s', async (status, way) => {
  const { receiver, visit, holds } = openShop(way);
  const errors: unknown[] = [];
  receiver.faults([{ status }]);
  // By the option, not by `on`.
  const { analytics, track } = visit({ onError: (error: unknown) => errors.push(error) });
  track(names(20));
  await passUntil(() => errors.length);
  expect(errors).toMatchObject([{ kind: 'setup', status }]);
  await passUntil(() => !analytics.status().inFlight);
  expect(analytics.status()).toMatchObject({ waiting: 20, paused: 'setup' });
  // Another try fails as well; no second word of it.
  const refused = receiver.requests.length;
  await pass(LATER_MS);
  expect(receiver.requests.length).toBeGreaterThan(refused);
  receiver.faults([]);
  track(['last']);
  await holds([...names(20), 'last'], LATER_MS);
  expect(errors).toHaveLength(1);
  expect(analytics.status()).toMatchObject({ dropped: {} });
});

it('does not lift a pause by callbacks that are written anew for `init`', async () => {
  const { service, visitUnset, options, holds } = openShop();
  const { analytics, track } = visitUnset();
  const context: Record<string, unknown> = {};
  context['self'] = context; // JSON cannot write it, and need not
  const init = (token: string) =>
    analytics.init({ ...options, token, context, onDrop: () => undefined } as never);
  init('wrong');
  track(['waits']);
  await passUntil(() => analytics.status().paused === 'setup');
  const asked = service.requests.length;
  for (let i = 0; i < 10; i++) init('wrong');
  await analytics.flush();
  expect(analytics.status().paused).toBe('setup');
  expect(service.requests).toHaveLength(asked);
  // Another token is another set-up.
  init(TOKEN);
  await holds(['waits']);
});

it.each([undefined, null])('throws from `init` where the options are %s', (options) => {
  const { analytics } = openShop().visitUnset();
  expect(() => analytics.init(options as never)).toThrow(
    new TypeError('analytics-outbox: wrong or missing: project,channel,baseUrl,token'),
  );
});

describe('a token function', () => {
  /** A page whose function gives these, one a call, the last for ever. */
  const openWith = (tokens: readonly unknown[]) => {
    const shop = openShop();
    let calls = 0;
    const token = async () => tokens[Math.min(calls++, tokens.length - 1)];
    return { ...shop, page: shop.visit({ token }), calls: () => calls };
  };

  it.each<[string, string[], object[]]>([
    ['says nothing if that one passes', ['stale', TOKEN], []],
    ['says so if it is no better', ['stale', 'stale-too', TOKEN], [{ kind: 'setup', status: 401 }]],
  ])('is asked for another once after a 401, and %s', async (_, tokens, errors) => {
    const { page, site, holds, calls } = openWith(tokens);
    page.track(names(20));
    await holds(names(20));
    expect(calls()).toBe(tokens.length);
    expect(page.heard.error).toMatchObject(errors);
    expect(page.analytics.status()).toMatchObject({ waiting: 0, dropped: {} });
    expect((await site.traces()).join()).not.toMatch(/stale/); // it is never stored
  });

  it('is asked for another when the network is back, since the one it gave may have run out', async () => {
    const { page, holds, offline, online } = openWith(['stale', TOKEN]);
    offline();
    page.track(names(5));
    await pass(600_000);
    online();
    await holds(names(5), 3_000);
    expect(page.heard.error.filter(({ kind }) => kind !== 'unreachable')).toEqual([]);
  });

  it.each<[string, () => unknown, string]>([
    [
      'fails',
      () => {
        throw new Error('no session');
      },
      'no session',
    ],
    ['gives a dash that no header can carry', () => 'tok–en', 'token: '],
    ['gives two lines', () => 'tok\nen', 'token: '],
    ['gives no string', () => ({}), 'token: '],
  ])('that %s keeps all, and says so once', async (_, fail, message) => {
    const { service, visit, holds } = openShop();
    let give = fail;
    const { analytics, track, heard } = visit({ token: async () => give() });
    track(names(20));
    await passUntil(() => heard.error.length);
    expect(heard.error).toMatchObject([
      { kind: 'token', message: expect.stringContaining(message) as string },
    ]);
    await pass(LATER_MS);
    expect(analytics.status()).toMatchObject({ paused: 'setup', waiting: 20, dropped: {} });
    expect(service.requests).toEqual([]);
    give = () => `${TOKEN}\n`; // from a file, it ends with a line break
    await holds(names(20), LATER_MS);
    expect(heard.error).toHaveLength(1);
  });

  it('is replaced by that of another `init`', async () => {
    const { visitUnset, options, holds } = openShop();
    const { analytics, track, heard } = visitUnset();
    const init = (token: string, flushAt: number) =>
      analytics.init({ ...options, token: () => token, flushAt } as never);
    init(TOKEN, 1);
    track(['before']);
    await holds(['before']);
    init('another', 2);
    track(['after', 'after']);
    await passUntil(() => heard.error.length);
    expect(heard.error).toMatchObject([{ kind: 'setup', status: 401 }]);
  });
});

describe('by relay', () => {
  const openByRelay = (options = {}) => {
    draw(0);
    return openShop('by relay', options);
  };

  it('keeps all while the service refuses the relay’s token, says so once, and goes on with a new one', async () => {
    const { relay, service, visit, holds } = openByRelay();
    relay.setToken('wrong');
    const { analytics, track, heard } = visit();
    track(names(20));
    await passUntil(() => analytics.status().paused === 'setup');
    track(names(20, 'later'));
    const before = relay.requests.length;
    await passUntil(() => relay.requests.length > before + 1);
    expect(service.names()).toEqual([]);
    expect(analytics.status()).toMatchObject({ unknown: 0, delivered: 0, dropped: {} });
    relay.setToken(TOKEN);
    await holds([...names(20), ...names(20, 'later')], 60_000);
    expect(heard.error).toMatchObject([{ kind: 'setup', status: 401 }]);
    expect(relay.errors).toMatchObject([{ kind: 'setup', status: 401 }]);
    expect(heard.drop).toEqual([]);
  });

  it('says nothing where the relay’s token has been renewed', async () => {
    let asked = 0;
    const { relay, visit, holds } = openByRelay({ token: () => (asked++ ? TOKEN : 'stale') });
    const { track, heard } = visit();
    track(names(20));
    await holds(names(20));
    expect(asked).toBe(2);
    expect(relay.requests).toHaveLength(1);
    expect([...heard.error, ...relay.errors]).toEqual([]);
    expect(heard.outcome.map(({ outcome }) => outcome)).toEqual(Array(20).fill('delivered'));
  });

  it.each([true, false])(
    'keeps the events of a channel that the relay does not list yet, on the same page: %s',
    async (isSame) => {
      const shop = openByRelay();
      const { relay, service } = shop;
      const { analytics, track, heard } = shop.visit();
      const trackIn = (events: string[]) =>
        events.forEach((event) => analytics.event(event, { channel: 'growth' }));
      const blocked = () =>
        new Set(
          heard.outcome.flatMap(({ outcome, record }) => (outcome === 'blocked' ? record.id : [])),
        );
      trackIn(names(3, 'new'));
      await passUntil(() => blocked().size === 3);
      // Nothing has passed yet, so it is not the others that vouch for the relay.
      track(names(20));
      await passUntil(() => service.has(names(20)));
      trackIn(names(2, 'newer'));
      await passUntil(() => blocked().size === 5);
      expect(analytics.status()).toMatchObject({ waiting: 5, delivered: 20, dropped: {} });
      expect(heard.error).toEqual([
        { kind: 'setup', status: 403, message: 'the relay: channel not listed' },
      ]);
      const unlisted = {
        kind: 'unlisted',
        message: 'channel "growth" is not in the list `channels`',
      };
      expect(relay.errors).toEqual([unlisted]);
      relay.deploy({ channels: ['web', 'growth'] });
      if (!isSame) await shop.next();
      await shop.holds([...names(20), ...names(3, 'new'), ...names(2, 'newer')], LATER_MS);
      expect(heard.drop).toEqual([]);
      expect(relay.errors).toHaveLength(1);
    },
  );
});

it.each(['London', 'https://elsewhere.example', {}])(
  'takes a relay’s path for one of the site, though the page has a global `origin`, %j',
  async (origin) => {
    const { relay, visit, holds } = openShop('by relay');
    vi.stubGlobal('origin', origin);
    visit().track(['called']);
    await holds(['called']);
    expect(relay.requests).toHaveLength(1);
  },
);
