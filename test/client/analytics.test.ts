// @vitest-environment happy-dom
// @vitest-environment-options { "url": "https://shop.example/" }
import { describe, expect, it, vi } from 'vitest';
import type { Drop, DirectOptions, OutboxRecord } from '../../src/client/types.js';
import { advance } from '../support/advance.js';
import { createFakeService, pageEach } from '../support/page-world.js';
import { settle } from '../support/settle.js';

const page = pageEach();

/** A tracker at work, and what it says. */
const start = async (parts: Partial<DirectOptions> = {}) => {
  const service = createFakeService();
  const { analytics } = await page.load();
  const drops: Drop[] = [];
  analytics.on('drop', (drop) => drops.push(drop));
  const options = page.options({ fetch: service.fetch, ...parts });
  analytics.init(options);
  await settle();
  return { analytics, service, drops, options };
};

describe('a call', () => {
  it('is delivered after flushInterval', async () => {
    const { analytics, service } = await start();
    analytics.event('Signed Up', { icon: '🎉', tags: { plan: 'pro' } });
    await advance(999);
    expect(service.seen).toEqual([]);
    await advance(2);
    expect(service.seen).toMatchObject([
      {
        url: 'https://in.test/v1/event',
        headers: { authorization: 'Bearer secret-token', 'content-type': 'application/json' },
        body: {
          project: 'shop',
          channel: 'web',
          event: 'Signed Up',
          icon: '🎉',
          tags: { plan: 'pro' },
          timestamp: '2026-01-01T00:00:00.000Z',
        },
      },
    ]);
  });

  it('is delivered at once with enough others', async () => {
    const { analytics, service } = await start({ flushAt: 3 });
    for (const name of ['a', 'b', 'c']) analytics.event(name);
    await settle();
    expect(service.events()).toEqual(['a', 'b', 'c']);
  });

  it('has the time it was made at, not the time it was sent at', async () => {
    const { analytics, service } = await start({ flushInterval: 60_000 });
    analytics.event('a');
    await advance(60_000);
    expect(service.seen[0]?.body.timestamp).toBe('2026-01-01T00:00:00.000Z');
  });

  it('before init is kept with its time and its order', async () => {
    const service = createFakeService();
    const { analytics } = await page.load();
    analytics.identify('u');
    analytics.event('a');
    vi.setSystemTime(Date.now() + 5_000);
    analytics.reset();
    analytics.event('b');
    expect(analytics.status().waiting).toBeGreaterThan(0);
    analytics.init(page.options({ fetch: service.fetch }));
    await advance(2_000);
    expect(service.seen.map(({ body }) => [body.event, body.user_id, body.timestamp])).toEqual([
      [undefined, 'u', undefined],
      ['a', 'u', '2026-01-01T00:00:00.000Z'],
      ['b', undefined, '2026-01-01T00:00:05.000Z'],
    ]);
  });

  it('beyond ten thousand before init is dropped with a reason', async () => {
    const { analytics } = await page.load();
    const drops: Drop[] = [];
    analytics.on('drop', (drop) => drops.push(drop));
    for (let i = 0; i < 10_001; i++) analytics.event('a');
    expect(drops.map(({ reason }) => reason)).toEqual(['outbox-full']);
  });

  it.each<[string, unknown[]]>([
    ['without arguments', []],
    ['with a symbol', [Symbol('s')]],
    ['with a BigInt', ['e', { tags: { n: 1n } }]],
    ['with a text as fields', ['e', 'text']],
    ['with null', [null, null]],
    [
      'with a getter that throws',
      [
        'e',
        {
          get tags() {
            throw new Error('x');
          },
        },
      ],
    ],
  ])('that is wrong (%s) is dropped with a reason, and the next is delivered', async (_, args) => {
    const { analytics, service, drops } = await start();
    (analytics.event as (...args: unknown[]) => void)(...args);
    (analytics.identify as (...args: unknown[]) => void)(...args.slice(1));
    analytics.event('right');
    await advance(2_000);
    expect(drops.length).toBeGreaterThan(0);
    for (const { reason, message } of drops) {
      expect(reason).toMatch(/invalid-call|not-serializable/);
      expect(message).not.toBe('');
    }
    expect(service.events()).toContain('right');
    expect(analytics.status().dropped[drops[0]!.reason]).toBeGreaterThan(0);
  });

  it('does not throw though the clock that was passed in does', async () => {
    let isBroken = false;
    const now = () => {
      if (isBroken) throw new Error('clock');
      return Date.now();
    };
    const { analytics } = await start({ now });
    isBroken = true;
    expect(() => analytics.event('a')).not.toThrow();
    expect(() => analytics.identify('u')).not.toThrow();
    isBroken = false;
  });

  it('may be made from a listener', async () => {
    const { analytics, service } = await start();
    const off = analytics.on('record', () => {
      off();
      analytics.event('b');
    });
    analytics.event('a');
    await advance(2_000);
    expect(service.events().sort()).toEqual(['a', 'b']);
  });
});

describe('the identified user', () => {
  it('is stamped on later events, on later pages too', async () => {
    const first = await start();
    first.analytics.identify('u', { plan: 'pro' });
    first.analytics.event('a');
    await advance(2_000);
    page.kill();
    const next = await start();
    next.analytics.event('b');
    await advance(2_000);
    expect(next.service.seen[0]?.body).toMatchObject({ event: 'b', user_id: 'u' });
    expect(next.analytics.status().userId).toBe('u');
  });

  it('is forgotten by reset, and what waits keeps its own', async () => {
    const { analytics, service } = await start();
    analytics.identify('u');
    analytics.event('a');
    analytics.reset();
    analytics.event('b');
    await advance(2_000);
    const users = new Map(service.seen.map(({ body }) => [body.event, body.user_id]));
    expect(users.get('a')).toBe('u');
    expect(users.get('b')).toBeUndefined();
    expect(analytics.status().userId).toBeUndefined();
  });

  it('is another where the event says so, or none', async () => {
    const { analytics, service } = await start();
    analytics.identify('u');
    analytics.event('a', { userId: 'v' });
    analytics.event('b', { userId: null });
    await advance(2_000);
    const users = new Map(service.seen.map(({ body }) => [body.event, body.user_id]));
    expect(users.get('a')).toBe('v');
    expect(users.get('b')).toBeUndefined();
  });

  it('is not changed by an identify that is wrong', async () => {
    const { analytics } = await start();
    analytics.identify('u');
    analytics.identify('');
    analytics.identify('v', 'text' as never);
    expect(analytics.status().userId).toBe('u');
  });

  it('is known though localStorage is blocked', async () => {
    vi.stubGlobal('localStorage', undefined);
    const { analytics, service } = await start();
    analytics.identify('u');
    analytics.event('a');
    await advance(2_000);
    expect(service.seen.find(({ body }) => body.event === 'a')?.body.user_id).toBe('u');
    analytics.reset();
    expect(analytics.status().userId).toBeUndefined();
  });
});

describe('init', () => {
  it('throws on wrong options, and works with right ones afterwards', async () => {
    const service = createFakeService();
    const { analytics } = await page.load();
    analytics.event('early');
    expect(() => analytics.init({ ...page.options(), token: '' })).toThrow(/`token`/);
    analytics.init(page.options({ fetch: service.fetch }));
    await advance(2_000);
    expect(service.events()).toEqual(['early']);
  });

  it('twice with the same options does nothing', async () => {
    const { analytics, service, options } = await start();
    const opened = vi.mocked(window.addEventListener).mock.calls.length;
    analytics.init({ ...options });
    analytics.event('a');
    await advance(2_000);
    expect(service.events()).toEqual(['a']);
    expect(vi.mocked(window.addEventListener).mock.calls.length).toBe(opened);
  });

  it('again with others re-configures', async () => {
    const { analytics, service, options } = await start();
    analytics.init({ ...options, token: 'other', channel: 'app' });
    analytics.event('a');
    await advance(2_000);
    expect(service.seen).toMatchObject([
      { headers: { authorization: 'Bearer other' }, body: { channel: 'app' } },
    ]);
  });

  it('again with another token goes on where the first was refused', async () => {
    const { analytics, service, options } = await start();
    service.rule = ({ headers }) => (headers.authorization === 'Bearer good' ? 200 : 401);
    const errors = vi.fn();
    analytics.on('error', errors);
    analytics.event('a');
    await advance(2_000);
    expect(errors).toHaveBeenCalledTimes(1);
    analytics.init({ ...options, token: 'good' });
    await settle();
    expect(analytics.status()).toMatchObject({ delivered: 1, waiting: 0 });
  });

  it('for another destination sends to it only what is called from then on', async () => {
    const { analytics, service, options } = await start();
    analytics.event('a');
    analytics.init({ ...options, baseUrl: 'https://other.test', project: 'blog' });
    analytics.event('b');
    await advance(2_000);
    const sent = service.seen.map(({ url, body }) => [url, body.project, body.event]).sort();
    expect(sent).toEqual([
      ['https://in.test/v1/event', 'shop', 'a'],
      ['https://other.test/v1/event', 'blog', 'b'],
    ]);
  });

  it('disabled does nothing', async () => {
    const open = vi.spyOn(indexedDB, 'open');
    const { analytics, service } = await start({ disabled: true });
    analytics.event('a');
    analytics.identify('u');
    analytics.setConsent('denied');
    analytics.reset();
    expect(await analytics.flush()).toMatchObject({ delivered: 0 });
    expect(analytics.status().paused).toBe('disabled');
    await advance(60_000);
    expect(service.seen).toEqual([]);
    expect(open).not.toHaveBeenCalled();
    expect(localStorage).toHaveLength(0);
  });

  it('disabled later, it says so, and the records it has are delivered all the same', async () => {
    const { analytics, service } = await start();
    analytics.event('before');
    analytics.init({ disabled: true });
    analytics.event('after');
    expect(analytics.status()).toMatchObject({ paused: 'disabled', storage: 'none', waiting: 0 });
    await advance(2_000);
    expect(service.events()).toEqual(['before']);
  });
});

describe('listeners', () => {
  it('hear of a record on its way', async () => {
    const { analytics } = await start();
    const heard: string[] = [];
    analytics.on('record', ({ id }) => heard.push(`record ${id.length}`));
    analytics.on('sent', ({ handoff }) => heard.push(`sent ${handoff}`));
    analytics.on('outcome', ({ outcome, status }) => heard.push(`${outcome} ${status}`));
    analytics.event('a');
    await advance(2_000);
    expect(heard).toEqual(['record 21', 'sent false', 'delivered 200']);
  });

  it('hear nothing any more once they stopped listening', async () => {
    const { analytics } = await start();
    const listener = vi.fn();
    analytics.on('record', listener)();
    analytics.event('a');
    expect(listener).not.toHaveBeenCalled();
  });

  it('of an event that does not exist are told of once, with the names there are', async () => {
    const { analytics } = await start();
    const errors = vi.fn();
    analytics.on('error', errors);
    const on = analytics.on as (type: string, listener: () => void) => () => void;
    on('dropped', () => undefined)();
    on('dropped', () => undefined);
    const message =
      '`on` expected record, sent, outcome, drop, error, storage, consent, reset, not "dropped"';
    expect(errors.mock.calls).toEqual([[{ kind: 'call', message }]]);
  });

  it('hear of a slip at once, before `init`, too', async () => {
    const { analytics } = await page.load();
    const heard = vi.fn();
    analytics.on('drop', heard);
    analytics.on('error', heard);
    (analytics.on as (type: string, listener: () => void) => void)('dropped', heard);
    (analytics.setConsent as (given: string) => void)('yes');
    expect(heard.mock.calls).toEqual([
      [expect.objectContaining({ kind: 'call' })],
      [expect.objectContaining({ reason: 'invalid-call' })],
    ]);
    expect(analytics.status().waiting).toBe(0);
  });

  it('that throw disturb neither delivery nor each other', async () => {
    const bad = () => {
      throw new Error('listener');
    };
    const { analytics, service } = await start({ onDrop: bad, onError: bad });
    const good = vi.fn();
    for (const type of ['record', 'sent', 'outcome', 'drop', 'error', 'storage'] as const) {
      analytics.on(type, bad);
      analytics.on(type, good);
    }
    service.rule = ({ body }) => (body.event === 'bad' ? 400 : 200);
    analytics.event('');
    analytics.event('bad');
    analytics.event('good');
    await advance(2_000);
    expect(analytics.status()).toMatchObject({ delivered: 1, dropped: { rejected: 1 } });
    expect(good).toHaveBeenCalled();
  });

  it('of drops get the record where there was one', async () => {
    const onDrop = vi.fn();
    const { analytics } = await start({ onDrop, beforeSend: () => null });
    analytics.event('');
    expect(onDrop).toHaveBeenLastCalledWith(expect.objectContaining({ reason: 'invalid-call' }));
    analytics.event('a');
    expect(onDrop).toHaveBeenLastCalledWith(expect.objectContaining({ reason: 'before-send' }));
  });

  it('may change what they hear without changing what is sent', async () => {
    const { analytics, service } = await start();
    analytics.on('record', (record: OutboxRecord) => {
      record.body = '{}';
    });
    analytics.event('a');
    await advance(2_000);
    expect(service.events()).toEqual(['a']);
  });
});

describe('the console', () => {
  it('gets no line, whatever happens', async () => {
    const { analytics, service } = await start();
    const replies = [500, 'fail', 401, 400] as const;
    service.rule = () => replies[service.seen.length % replies.length] ?? 200;
    analytics.event('');
    for (let i = 0; i < 30; i++) analytics.event(`e${i}`);
    page.leave();
    page.comeBack();
    await advance(60_000);
    expect(page.linesLogged()).toBe(0);
  });

  it('gets lines with `debug`, and never the token', async () => {
    const { analytics } = await start({ debug: true });
    analytics.event('a');
    await advance(2_000);
    const lines = [console.log, console.groupCollapsed].flatMap(
      (line) => vi.mocked(line).mock.calls,
    );
    expect(lines.length).toBeGreaterThan(0);
    expect(JSON.stringify(lines)).not.toContain('secret-token');
  });

  it('gets each error once with `debug`', async () => {
    const { analytics, service } = await start({ debug: true });
    service.rule = () => 401;
    analytics.event('a');
    await advance(2_000);
    const lines = [console.log, console.warn].flatMap((line) => vi.mocked(line).mock.calls);
    const refusals = lines.filter((line) => JSON.stringify(line).includes('refuses the token'));
    expect(refusals).toEqual([
      ['analytics-outbox: error', expect.objectContaining({ kind: 'setup', status: 401 })],
    ]);
  });
});

it('stores the token nowhere', async () => {
  const { analytics, service } = await start();
  service.rule = () => 500;
  analytics.identify('u');
  analytics.event('a');
  await advance(2_000);
  page.leave();
  await settle();
  expect(JSON.stringify({ ...localStorage })).not.toContain('secret-token');
  const databases = await indexedDB.databases();
  expect(databases.length).toBeGreaterThan(0);
  expect(JSON.stringify(databases)).not.toContain('secret-token');
});
