import type { Page } from '@playwright/test';
import { heard, listening } from './support/heard.js';
import { expect, test } from './support/test.js';

/** What a page may pass as tags or properties, and what JSON makes of it. The service stores U+FFFD for what no database keeps. */
const CARRIED: Record<string, { code: string; json: unknown }> = {
  symbols: { code: '({ a: Symbol("s"), [Symbol("k")]: 1, b: 2 })', json: { b: 2 } },
  'a function': { code: '({ f() {}, b: 2 })', json: { b: 2 } },
  'an undefined': { code: '({ a: undefined, b: [undefined] })', json: { b: [null] } },
  emoji: {
    code: '({ "🎉": "👩‍👩‍👧‍👦 ä \\u0000 \\u2028 </script>" })',
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
