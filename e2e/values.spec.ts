import type { Page } from '@playwright/test';
import { heard, listening } from './support/heard.js';
import { statusOf } from './support/status-of.js';
import { expect, test } from './support/test.js';

/** As most pages have it: any keys beside the fields. */
const FLAT = {
  ...{ plan: 'pro', price: 3, deep: { list: [1, null] }, none: null, project: 'mine' },
  ...{ icon: '🎉', channel: 'c', description: 'd', notify: true },
  timestamp: '2026-03-01T12:00:00.000Z',
  ...{ user_id: 'user_2', tags: { price: 4, seats: 1 } },
};
const FLAT_ROW = {
  ...{ channel: 'c', icon: '🎉', description: 'd', notify: true, user_id: 'user_2' },
  timestamp: FLAT.timestamp,
  tags: { plan: 'pro', price: 4, deep: { list: [1, null] }, none: null, project: 'mine', seats: 1 },
};

/** What a page may pass as tags or properties, and why it is dropped. */
const DROPPED: Record<string, { code: string; reason: string }> = {
  cyclic: { code: '(() => { const a = {}; a.a = a; return a; })()', reason: 'not-serializable' },
  BigInt: { code: '({ n: 1n })', reason: 'not-serializable' },
  'throwing getter': {
    code: '({ get secret() { throw new Error("no") } })',
    reason: 'not-serializable',
  },
  'throwing toJSON': {
    code: '({ a: { toJSON() { throw new Error("no") } } })',
    reason: 'not-serializable',
  },
  'throwing Proxy': {
    code: '({ a: new Proxy({}, { ownKeys() { throw new Error("no") } }) })',
    reason: 'not-serializable',
  },
  'revoked Proxy': {
    code: '(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy; })()',
    reason: 'not-serializable',
  },
  'throwing null': { code: '({ get a() { throw null } })', reason: 'not-serializable' },
  '70 kB': { code: '({ text: "x".repeat(70_000) })', reason: 'too-large' },
  '70 kB of emoji in 35 k characters': {
    code: '({ text: "🎉".repeat(17_500) })',
    reason: 'too-large',
  },
  'an array': { code: '[1, 2]', reason: 'invalid-call' },
  'a string': { code: '"text"', reason: 'invalid-call' },
};

/** And what JSON makes of it. */
const CARRIED: Record<string, { code: string; json: unknown }> = {
  symbols: { code: '({ a: Symbol("s"), [Symbol("k")]: 1, b: 2 })', json: { b: 2 } },
  'a function': { code: '({ f() {}, b: 2 })', json: { b: 2 } },
  'an undefined': { code: '({ a: undefined, b: [undefined] })', json: { b: [null] } },
  emoji: {
    code: '({ "🎉": "👩‍👩‍👧‍👦 ä \\u0000 \\u2028 </script>" })',
    // No database keeps NUL and half a pair, so the service stores U+FFFD.
    json: { '🎉': '👩‍👩‍👧‍👦 ä \ufffd \u2028 </script>' },
  },
  'half an emoji': { code: '({ a: "\\ud83c" })', json: { a: '\ufffd' } },
  Date: {
    code: '({ a: new Date(0), b: new Date(NaN) })',
    json: { a: '1970-01-01T00:00:00.000Z', b: null },
  },
  'Map and Set': {
    code: '({ map: new Map([[1, 2]]), set: new Set([1]) })',
    json: { map: {}, set: {} },
  },
  Proxy: { code: '({ a: new Proxy({ b: 1 }, {}) })', json: { a: { b: 1 } } },
  numbers: {
    code: '({ a: NaN, b: Infinity, c: -0, d: 1e21 })',
    json: { a: null, b: null, c: 0, d: 1e21 },
  },
  'typed array': { code: '({ a: new Uint8Array([1, 2]) })', json: { a: { 0: 1, 1: 2 } } },
  'an element': { code: '({ a: document.body })', json: { a: {} } },
  'an error': { code: '({ a: new Error("no") })', json: { a: {} } },
  'a class': {
    code: 'new (class { own = 1; get inherited() { return 2 } })()',
    json: { own: 1 },
  },
  'without prototype': {
    code: 'Object.assign(Object.create(null), { a: 1 })',
    json: { a: 1 },
  },
  frozen: { code: 'Object.freeze({ a: Object.freeze([1]) })', json: { a: [1] } },
  '59 kB': { code: '({ text: "x".repeat(59_000) })', json: { text: 'x'.repeat(59_000) } },
};

/** Passes each value as tags and as properties, with a harmless event after it. */
const passAll = (page: Page, values: Record<string, string>) => {
  const calls = Object.entries(values).map(([name, code]) => {
    const quoted = JSON.stringify(name);
    return `{
      const value = ${code};
      analytics.event(${quoted}, { tags: value, userId: null });
      analytics.identify(${quoted}, value);
      analytics.event('after ' + ${quoted}, { userId: null });
    }`;
  });
  // Evaluated in the page: most of these do not travel.
  return page.evaluate(calls.join('\n'));
};

const after = (values: object) => Object.keys(values).map((name) => `after ${name}`);
const codesOf = (values: Record<string, { code: string }>) =>
  Object.fromEntries(Object.entries(values).map(([name, { code }]) => [name, code]));

test('delivers what JSON can carry, as JSON makes it @relay', async ({ page, service, site }) => {
  await page.goto(site.page('/', site.tagged({}, listening)));
  await passAll(page, codesOf(CARRIED));
  const users = Object.keys(CARRIED);
  await service.holds(
    { events: [...users, ...after(CARRIED)], identifies: users },
    { pages: [page] },
  );
  expect(await heard(page, 'drop')).toEqual([]);
  const tags = new Map((await service.events()).map((row) => [row.event, row.tags]));
  const properties = new Map((await service.identifies()).map((r) => [r.user_id, r.properties]));
  for (const [name, { json }] of Object.entries(CARRIED)) {
    expect(tags.get(name), name).toEqual(json);
    expect(properties.get(name), name).toEqual(json);
  }
});

test('drops what JSON cannot carry, with a reason, and delivers its neighbours @relay', async ({
  page,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged({}, listening)));
  await passAll(page, codesOf(DROPPED));
  await service.holds({ events: after(DROPPED), identifies: [] }, { pages: [page] });
  const drops = (await heard(page, 'drop')).map(({ reason }) => reason);
  expect(drops).toEqual(Object.values(DROPPED).flatMap(({ reason }) => [reason, reason]));
});

test('sends a key `__proto__` as an ordinary one, and pollutes nothing @relay', async ({
  page,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged({}, listening)));
  const polluted = await page.evaluate(() => {
    const odd = JSON.parse('{"__proto__":{"polluted":1},"a":1}') as object;
    analytics.event('odd', { tags: odd });
    analytics.event('odd', odd);
    analytics.identify('odd', odd);
    const tags: unknown = JSON.parse('{"constructor":{"prototype":{"polluted":1}}}');
    analytics.event('__proto__', { tags: tags as object });
    return 'polluted' in {};
  });
  expect(polluted).toBe(false);
  await service.holds(
    { events: ['odd', 'odd', '__proto__'], identifies: ['odd'] },
    { pages: [page] },
  );
  const odd = (await service.events()).filter(({ event }) => event === 'odd');
  for (const { tags } of odd)
    expect(JSON.stringify(tags)).toBe('{"__proto__":{"polluted":1},"a":1}');
});

test('keeps what was given at the call, whatever the page does to it later', async ({
  page,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged()));
  const after = await page.evaluate(() => {
    const tags = { plan: 'free', list: [1] };
    analytics.event('odd', { tags });
    analytics.identify('user_1', tags);
    tags.plan = 'pro';
    tags.list.push(2);
    return tags;
  });
  expect(after).toEqual({ plan: 'pro', list: [1, 2] });
  await service.holds({ events: ['odd'], identifies: ['user_1'] }, { pages: [page] });
  expect((await service.events())[0]!.tags).toEqual({ plan: 'free', list: [1] });
  expect((await service.identifies())[0]!.properties).toEqual({ plan: 'free', list: [1] });
});

/** A page that calls the stub, before the tag's file is there. */
const onStub = (code: string) => ({
  ...listening,
  body: `${listening.body}<script>${code}</script>`,
});

test('takes keys that are no fields for tags, whoever kept the call @relay', async ({
  page,
  service,
  site,
}) => {
  const calls = (when: string) =>
    `analytics.event('flat ${when}', ${JSON.stringify(FLAT)});
     analytics.event('alone ${when}', { plan: 'pro', gone: undefined });
     analytics.event('nobody ${when}', { user_id: null });
     analytics.event('both ${when}', { userId: 'user_3', user_id: 'user_3' });`;
  await page.goto(
    site.page('/', site.tagged({}, onStub(`analytics.identify('user_1'); ${calls('early')}`))),
  );
  await page.evaluate(calls('late'));
  const names = ['flat', 'alone', 'nobody', 'both'];
  await service.holds(
    {
      events: names.flatMap((name) => [`${name} early`, `${name} late`]),
      identifies: ['user_1'],
    },
    { pages: [page] },
  );
  const rows = new Map((await service.events()).map((row) => [row.event, row]));
  for (const when of ['early', 'late']) {
    expect(rows.get(`flat ${when}`)).toMatchObject(FLAT_ROW);
    expect(rows.get(`flat ${when}`)!.tags).toEqual(FLAT_ROW.tags);
    expect(rows.get(`alone ${when}`)).toMatchObject({ tags: { plan: 'pro' }, user_id: 'user_1' });
    expect(rows.get(`nobody ${when}`)).toMatchObject({ tags: {}, user_id: null });
    expect(rows.get(`both ${when}`)).toMatchObject({ tags: {}, user_id: 'user_3' });
  }
  expect(await heard(page, 'drop')).toEqual([]);
  expect(await heard(page, 'error')).toEqual([]);
});

test('sends what looks misspelt as a tag @relay', async ({ page, service, site }) => {
  const calls = `
    analytics.event('a', { descripton: 'd', tag: 1, notfy: true, time_stamp: 5, tabs: 2 });
    analytics.event('b', { descripton: 'd' });
    analytics.event('c', { userId: 'user_1', user_id: 'user_2' });
    analytics.event('d', { timestamp: ${Date.UTC(2026, 0, 1) / 1_000} });
    analytics.event('e', { plan: 'pro' }, { timestamp: 5 });
    analytics.identify('user_3', {}, () => {});`;
  await page.goto(site.page('/', site.tagged({}, onStub(calls))));
  await page.evaluate(calls);
  const twice = (...names: string[]) => [...names, ...names];
  await service.holds(
    { events: twice('a', 'b', 'c', 'd', 'e'), identifies: twice('user_3') },
    { pages: [page] },
  );
  const rows = new Map((await service.events()).map((row) => [row.event, row]));
  const tags = { descripton: 'd', tag: 1, notfy: true, time_stamp: 5, tabs: 2 };
  expect(rows.get('a')).toMatchObject({ tags, description: null, notify: false });
  expect(rows.get('b')!.tags).toEqual({ descripton: 'd' });
  expect(rows.get('c')).toMatchObject({ user_id: 'user_1', tags: {} });
  // They are no losses, and no errors: the developers' file tells of them.
  expect(await heard(page, 'error')).toEqual([]);
  expect(await heard(page, 'drop')).toEqual([]);
  expect((await statusOf(page)).dropped).toEqual({});
});

test('shows `beforeSend` all tags in one place, and sends what it adds there @relay', async ({
  page,
  guest,
  service,
  site,
}) => {
  guest.allowGlobals('filter', 'shown');
  const head = `<script>shown = []; function filter(draft) {
    shown.push(structuredClone(draft.body));
    (draft.body.tags ?? draft.body.properties).page = 1;
    return draft;
  }</script>`;
  await page.goto(site.page('/', site.tagged({ beforeSend: 'filter' }, { ...listening, head })));
  await page.evaluate(`
    analytics.event('one', { plan: 'pro', user_id: 'user_1', tags: { seats: 3 } });
    analytics.identify('user_1', { plan: 'pro' });`);
  await service.holds({ events: ['one'], identifies: ['user_1'] }, { pages: [page] });
  const [event, identify] = (await page.evaluate('shown')) as object[];
  expect(event).toMatchObject({ user_id: 'user_1', tags: { plan: 'pro', seats: 3 } });
  expect(event).not.toHaveProperty('plan');
  expect(identify).toMatchObject({ properties: { plan: 'pro' } });
  expect((await service.events())[0]!.tags).toEqual({ plan: 'pro', seats: 3, page: 1 });
  expect((await service.identifies())[0]!.properties).toEqual({ plan: 'pro', page: 1 });
  expect(await heard(page, 'drop')).toEqual([]);
});

// Calls that a typed program would not make.
const WRONG_CALLS = {
  'no name': 'analytics.event()',
  'an empty name': 'analytics.event("")',
  'a name that is no string': 'analytics.event({ toString() { return "x" } })',
  'fields that are no object': 'analytics.event("x", 7)',
  'a time that is none': 'analytics.event("x", { timestamp: "yesterday" })',
  'no user': 'analytics.identify()',
  'an empty user': 'analytics.identify("")',
  'properties that are an array': 'analytics.identify("user", [])',
  'properties that are null': 'analytics.identify("user", 1)',
};

test('drops wrong calls with a reason, and never throws', async ({ page, service, site }) => {
  await page.goto(site.page('/', site.tagged({}, listening)));
  for (const [what, code] of Object.entries(WRONG_CALLS)) {
    expect(await page.evaluate(`${code} === undefined`), what).toBe(true);
  }
  await page.evaluate(() => analytics.event('fine'));
  await service.holds({ events: ['fine'], identifies: [] }, { pages: [page] });
  const drops = await heard(page, 'drop');
  expect(drops.map(({ reason }) => reason)).toEqual(
    Object.keys(WRONG_CALLS).map(() => 'invalid-call'),
  );
  for (const { message } of drops) expect(message).toMatch(/^wrong /);
  expect(await statusOf(page)).toMatchObject({ dropped: { 'invalid-call': drops.length } });
  expect((await statusOf(page)).userId).toBeUndefined();
});
