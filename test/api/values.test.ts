import { describe, expect, it, vi } from 'vitest';
import { passUntil } from '../support/clock.js';
import { openShop } from '../support/shop.js';
import type { EventFields } from '../../src/client/types.js';

const ROUTES = ['direct', 'by relay'] as const;
const NO_JSON = 'not-serializable';
const fails = (): never => {
  throw new Error('no');
};
const cyclic: Record<string, unknown> = {};
cyclic['self'] = cyclic;
const revoked = Proxy.revocable({}, {});
revoked.revoke();

/** What a page may pass as tags or properties, and why it is dropped. */
const DROPPED: Record<string, [value: unknown, reason: string]> = {
  cyclic: [cyclic, NO_JSON],
  BigInt: [{ n: 1n }, NO_JSON],
  'throwing getter': [
    Object.defineProperty({}, 'secret', { get: fails, enumerable: true }),
    NO_JSON,
  ],
  'throwing toJSON': [{ a: { toJSON: fails } }, NO_JSON],
  'throwing Proxy': [{ a: new Proxy({}, { ownKeys: fails }) }, NO_JSON],
  'revoked Proxy': [revoked.proxy, NO_JSON],
  '70 kB': [{ text: 'x'.repeat(70_000) }, 'too-large'],
  '70 kB of emoji in 35 k characters': [{ text: '🎉'.repeat(17_500) }, 'too-large'],
  'an array': [[1, 2], 'invalid-call'],
  'a string': ['text', 'invalid-call'],
};

const MANY_LEVELS = JSON.parse('['.repeat(198) + ']'.repeat(198)) as unknown;
const SIDE_BY_SIDE = Array.from({ length: 100 }, () => [{}]);
const CARRIED: Record<string, object> = {
  symbols: { a: Symbol('s'), [Symbol('k')]: 1, b: 2 },
  'a function': { f: () => 1, b: 2 },
  'an undefined': { a: undefined, b: [undefined] },
  emoji: { '🎉': '👩‍👩‍👧‍👦 ä \u0000 \u2028 </script>' },
  'half an emoji': { a: '\ud83c' },
  Date: { a: new Date(0), b: new Date(NaN) },
  'Map and Set': { map: new Map([[1, 2]]), set: new Set([1]) },
  Proxy: { a: new Proxy({ b: 1 }, {}) },
  numbers: { a: NaN, b: Infinity, c: -0, d: 1e21 },
  'typed array': { a: new Uint8Array([1, 2]) },
  'an error': { a: new Error('no') },
  'without prototype': Object.assign(Object.create(null) as object, { a: 1 }),
  frozen: Object.freeze({ a: Object.freeze([1]) }),
  '59 kB': { text: 'x'.repeat(59_000) },
  'a key `__proto__`': JSON.parse('{"__proto__":{"polluted":1},"a":1}') as object,
  'a key `constructor`': { constructor: { prototype: { polluted: 1 } } },
  'many levels': { a: MANY_LEVELS },
  'many things side by side': { a: SIDE_BY_SIDE },
};

describe.each(ROUTES)('values, %s', (way) => {
  it.each(Object.entries(CARRIED))('are sent as JSON makes them: %s', async (_, value) => {
    const { service, visit, holds } = openShop(way);
    const { analytics, heard } = visit();
    analytics.event('odd', { tags: value, userId: null });
    analytics.identify('user', value);
    await holds(['odd', 'identify user']);
    expect(heard.drop).toEqual([]);
    // As text: `__proto__` is a key like any other, which `toEqual` may not see.
    const text = JSON.stringify(value);
    expect(JSON.stringify(service.one('odd')['tags'])).toBe(text);
    expect(JSON.stringify(service.one('identify user')['properties'])).toBe(text);
    expect('polluted' in {}).toBe(false);
  });

  it('that JSON cannot carry are dropped with a reason, and their neighbours delivered', async () => {
    const { visit, holds } = openShop(way);
    const { analytics, heard, track } = visit();
    for (const [name, [value]] of Object.entries(DROPPED)) {
      analytics.event(name, { tags: value as object });
      analytics.identify(name, value as object);
      track([`after ${name}`]);
    }
    await holds(Object.keys(DROPPED).map((name) => `after ${name}`));
    expect(heard.drop.map(({ reason }) => reason)).toEqual(
      Object.values(DROPPED).flatMap(([, reason]) => [reason, reason]),
    );
  });

  it('are kept as they were at the call, before `init` and after it', async () => {
    const { service, visitUnset, options, holds } = openShop(way);
    const { analytics } = visitUnset();
    const call = (when: string) => {
      const tags = { plan: 'free', list: [1] };
      analytics.event(when, { tags });
      analytics.identify(when, tags);
      tags.plan = 'pro';
      tags.list.push(2);
    };
    call('early');
    analytics.init(options);
    call('late');
    await holds(['early', 'late', 'identify early', 'identify late']);
    for (const when of ['early', 'late']) {
      expect(service.one(when)['tags']).toEqual({ plan: 'free', list: [1] });
      expect(service.one(`identify ${when}`)['properties']).toEqual({ plan: 'free', list: [1] });
    }
  });
});

/** Fields of an event as a page gives them, and what goes on the wire. */
const FIELDS: Record<string, [fields: object | null, wire: object]> = {
  'any keys beside the fields': [
    {
      ...{ plan: 'pro', price: 3, deep: { list: [1, null] }, none: null, project: 'mine' },
      ...{ icon: '🎉', channel: 'web', description: 'd', notify: true },
      ...{ timestamp: '2026-03-01T12:00:00.000Z', user_id: 'user_2' },
      tags: { price: 4, seats: 1 },
    },
    {
      ...{ icon: '🎉', channel: 'web', description: 'd', notify: true, project: 'shop' },
      ...{ timestamp: '2026-03-01T12:00:00.000Z', user_id: 'user_2' },
      tags: {
        ...{ plan: 'pro', price: 4, deep: { list: [1, null] }, none: null, project: 'mine' },
        seats: 1,
      },
    },
  ],
  'one key alone': [
    { plan: 'pro', gone: undefined },
    { tags: { plan: 'pro' }, user_id: 'user_1' },
  ],
  'none, by null': [null, { tags: {}, user_id: 'user_1' }],
  'nobody, by the wire name': [{ user_id: null }, { tags: {} }],
  'both names of the user': [{ userId: 'user_3', user_id: 'user_4' }, { user_id: 'user_3' }],
  'a number for the user': [{ userId: 8.5 }, { user_id: '8.5', tags: {} }],
  'zero for the user': [{ userId: 0 }, { user_id: '0', tags: {} }],
  'misspelt fields': [
    { descripton: 'd', tag: 1, notfy: true, time_stamp: 5, tabs: 2 },
    { tags: { descripton: 'd', tag: 1, notfy: true, time_stamp: 5, tabs: 2 } },
  ],
  'a time of Temporal': [
    { timestamp: { toJSON: () => '2026-01-01T00:00:00.5Z' } },
    { timestamp: '2026-01-01T00:00:00.500Z' },
  ],
  'seconds for the time': [
    { timestamp: Date.UTC(2026, 0, 1) / 1_000 },
    { timestamp: new Date(Date.UTC(2026, 0, 1) / 1_000).toJSON() },
  ],
};

it.each(ROUTES)(
  'takes keys that are no fields for tags, whoever kept the call, %s',
  async (way) => {
    const { service, visitUnset, options, holds } = openShop(way);
    const { analytics, heard } = visitUnset();
    const callAll = (when: string) => {
      for (const [what, [fields]] of Object.entries(FIELDS))
        analytics.event(`${when} ${what}`, fields as EventFields);
      (analytics.event as (...args: unknown[]) => void)(`${when} too many`, {}, { timestamp: 5 });
    };
    analytics.identify('user_1');
    callAll('early');
    analytics.init(options);
    callAll('late');
    (analytics.identify as (...args: unknown[]) => void)('user_1', null, () => undefined);
    const all = [...Object.keys(FIELDS), 'too many'];
    await holds([
      ...all.flatMap((what) => [`early ${what}`, `late ${what}`]),
      ...['identify user_1', 'identify user_1'],
    ]);
    for (const [what, [, wire]] of Object.entries(FIELDS))
      for (const when of ['early', 'late']) {
        expect(service.one(`${when} ${what}`)).toMatchObject(wire);
        if ('tags' in wire) expect(service.one(`${when} ${what}`)['tags']).toEqual(wire.tags);
      }
    expect(service.one('late nobody, by the wire name')).not.toHaveProperty('user_id');
    // They are no losses, and no errors: the developers' file tells of them.
    expect([...heard.drop, ...heard.error]).toEqual([]);
  },
);

const TOO_LONG = 'é'.repeat(513);
const NO_IDS = [
  ...[undefined, '', ' ', 'undefined', 'null', 'None', 'nil', 'NaN', '(null)', '<nil>'],
  ...['[object Object]', NaN, Infinity, {}, true, TOO_LONG],
];
/** Calls that a typed program would not make. */
const WRONG_CALLS: [method: 'event' | 'identify', ...args: unknown[]][] = [
  ['event'],
  ['event', ''],
  ['event', { toString: () => 'x' }],
  ['event', 7],
  ['event', 'x', 7],
  ['event', 'x', []],
  ['event', 'x', { timestamp: 'yesterday' }],
  ['identify', 'user', []],
  ['identify', 'user', 1],
  ['identify', null],
  ...NO_IDS.map((id) => ['identify', id] as ['identify', unknown]),
  ...NO_IDS.slice(1).flatMap((id): ['event', ...unknown[]][] => [
    ['event', 'x', { userId: id }],
    ['event', 'x', { user_id: id }],
  ]),
];

it('drops wrong calls with a reason, never throws, and takes a number for a user, on the next page, too', async () => {
  const shop = openShop();
  const { service } = shop;
  const { analytics, heard } = shop.visit();
  for (const [method, ...args] of WRONG_CALLS)
    expect((analytics[method] as (...args: unknown[]) => unknown)(...args)).toBeUndefined();
  expect(analytics.status().userId).toBeUndefined();
  analytics.identify(42 as never);
  analytics.event('fine');
  analytics.event('another', { userId: 'undefined_2' });
  await shop.holds(['fine', 'another', 'identify 42']);
  expect(service.one('fine').user_id).toBe('42');
  expect(service.one('another').user_id).toBe('undefined_2');
  expect(heard.drop.map(({ reason }) => reason)).toEqual(WRONG_CALLS.map(() => 'invalid-call'));
  for (const { message } of heard.drop) expect(message).toMatch(/^wrong /);
  expect(analytics.status().dropped).toEqual({ 'invalid-call': WRONG_CALLS.length });
  const next = await shop.next();
  next.track(['next']);
  expect(next.analytics.status().userId).toBe('42');
  await passUntil(() => service.has(['next']));
  expect(service.one('next').user_id).toBe('42');
});

it('asks `context` at each call, and not while consent is denied', async () => {
  const { service, visit, holds } = openShop();
  const page: Record<string, unknown> = { name: 'first', deep: [1] };
  const context = vi.fn(() => page);
  const { analytics, track } = visit({ context });
  track(['one']);
  page['name'] = 'second';
  (page['deep'] as number[]).push(2);
  analytics.event('two', { name: 'call' });
  analytics.identify('user_1', { seats: 1 });
  await holds(['one', 'two', 'identify user_1']);
  expect(service.one('one')['tags']).toEqual({ name: 'first', deep: [1] });
  expect(service.one('two')['tags']).toEqual({ name: 'call', deep: [1, 2] });
  expect(service.one('identify user_1')['properties']).toEqual({ seats: 1 });
  analytics.setConsent('denied');
  context.mockClear();
  track(['denied']);
  expect(context).not.toHaveBeenCalled();
});
