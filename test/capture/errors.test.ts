// @vitest-environment happy-dom
// @vitest-environment-options { "url": "https://shop.example/" }
import { afterEach, describe, expect, it, vi } from 'vitest';
import { beginAtHome, capture, go, hide, pass, show } from '../support/captured.js';

afterEach(() => {
  vi.restoreAllMocks();
});
beginAtHome();

const fail = (message: string, filename = 'https://shop.example/a.js') =>
  window.dispatchEvent(
    Object.assign(new Event('error'), { message, filename, lineno: 1, colno: 2 }),
  );
const reject = (reason: unknown) =>
  window.dispatchEvent(Object.assign(new Event('unhandledrejection'), { reason }));

/** Notes how much text each pattern is given. */
const watchPatterns = () => {
  const lengths: number[] = [];
  for (const name of [Symbol.replace, Symbol.match, Symbol.search, Symbol.split, 'exec'] as const) {
    const original = RegExp.prototype[name as typeof Symbol.replace] as (
      ...args: unknown[]
    ) => never;
    vi.spyOn(RegExp.prototype, name as typeof Symbol.replace).mockImplementation(function (
      this: RegExp,
      ...args: unknown[]
    ) {
      lengths.push(String(args[0]).length);
      return original.apply(this, args);
    });
  }
  return lengths;
};

describe('errors with long texts', () => {
  const LONG = 1_000_000;
  const parts = [':', '/', '//', '@', '?', ';', ';=', 'a:', 'x', ' ', '{"a":"b@c","d":1},', '🎉'];
  const texts = parts.map((part, index) => `${index} ${part.repeat(LONG / part.length)}`);

  it('hand no pattern more than 2,000 characters, and nothing once the limit is reached', () => {
    const { tags } = capture({ errors: { limit: texts.length * 2 } });
    const lengths = watchPatterns();
    for (const text of texts) {
      fail(text, `data:text/javascript,${text}`);
      reject(new Error(text));
    }
    expect(tags()).toHaveLength(texts.length * 2);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(2_000);
    lengths.length = 0;
    fail(texts[0]!);
    expect(lengths).toEqual([]);
    vi.restoreAllMocks();
    for (const { message, source } of tags()) {
      expect(String(message).length).toBeLessThanOrEqual(300);
      expect(String(source).length).toBeLessThanOrEqual(310);
    }
  });

  it('lose credentials however long they are', () => {
    const { tags } = capture({ errors: true });
    reject(`a${':'.repeat(1_000)}secret@b.example`);
    expect(tags()).toMatchObject([{ message: 'a:b.example' }]);
  });

  it('are cut between characters', () => {
    const { tags } = capture({ errors: true });
    reject('x'.repeat(298) + '🎉 and more');
    fail('y', 'z'.repeat(298) + '🎉 and more');
    expect(tags()).toMatchObject([
      { message: `${'x'.repeat(298)}…` },
      { message: 'y', source: `${'z'.repeat(298)}…:1:2` },
    ]);
  });
});

it('says nothing of extensions of the browser, and keeps the limit for the site', () => {
  const { tags } = capture({ errors: { limit: 1 } });
  fail('x 404', 'chrome-extension://abc/inject.js');
  fail('x', 'webkit-masked-url://hidden/');
  const [message, own] = ['Error: 404', 'at https://shop.example/a.js:1:2'];
  for (const frame of ['at f (chrome-extension://abc/a.js:1:2)', 'f@moz-extension://abc/a.js:1:2'])
    reject({ message, stack: `${message}\n ${frame}\n ${own}` });
  expect(tags()).toEqual([]);
  // It was called by one, and is the site's.
  reject({ message, stack: `${message}\n ${own}\n at chrome-extension://abc/a.js:1:2` });
  expect(tags()).toMatchObject([{ message }]);
});

it.each<[what: string, reason: unknown, message: string]>([
  ['an event', new Event('error'), 'error'],
  ['an error of a database', { name: 'QuotaExceededError', message: '' }, 'QuotaExceededError'],
  ['an answer of a service', { code: 'E_CARD' }, 'E_CARD'],
  ['a text', 'no card', 'no card'],
  ['a number', 42, '42'],
  ['another object', { card: 1 }, '[object Object]'],
])('says what it can of a rejection with %s', (_, reason, message) => {
  const { tags } = capture({ errors: true });
  reject(reason);
  hide();
  expect(tags()).toMatchObject([{ type: 'unhandledrejection', message }]);
});

it('says nothing of what says nothing, and keeps the limit for the rest', () => {
  const { tags } = capture({ errors: { limit: 1 } });
  fail('ResizeObserver loop completed with undelivered notifications.');
  fail('ResizeObserver loop limit exceeded');
  fail('Script error.', '');
  fail('Broken', 'https://shop.example/a;jsessionid=1/b.js?c=2');
  expect(tags()).toMatchObject([{ message: 'Broken', source: 'https://shop.example/a/b.js:1:2' }]);
});

it.each([
  [`no answer of https://a.example/b?name=O'Brien&email=x at all`, 'https://a.example/b at all'],
  [`no answer ("/c?q=(secret)&email=x") at all`, '("/c at all'],
  [`no answer \`/d?q="secret\`&email=x at all`, '`/d at all'],
  [`no answer: '#access_token=secret' is not a selector`, `' is not a selector`],
  [`no answer of /e#access_token=secret at all`, '/e at all'],
  [`no answer of https://user:pass#w?rd@a.example/f at all`, 'https://a.example/f at all'],
])('keeps no query, fragment or credentials of an address in a message: %s', (text, kept) => {
  const { tags } = capture({ errors: true });
  reject(new Error(text));
  const [{ message }] = tags('Error Occurred') as [{ message: string }];
  expect(message).toContain(kept);
  expect(message).not.toMatch(/secret|email|Brien|pass|w\?rd/);
});

// As WebKit and Firefox word it, and what a page's own code makes of it.
describe.each([
  'Load failed',
  'Importing a module script failed.',
  'NetworkError when attempting to fetch resource.',
  'error loading dynamically imported module: https://shop.example/a.js',
  'The operation was aborted. ',
  'The network connection was lost.',
  'cancelled',
  'Network Error',
  'Request aborted',
])('a request that was broken off: %s', (message) => {
  it('says nothing if the page is left', () => {
    const { names } = capture({ errors: true });
    reject(new TypeError(message));
    reject(new Error('of the page'));
    expect(names()).toHaveLength(1);
    pass(6_000);
    hide();
    pass(60_000);
    expect(names()).toHaveLength(1);
    // A page that was only hidden may have the same error again.
    show();
    reject(new TypeError(message));
    pass(10_000);
    expect(names()).toHaveLength(2);
  });

  it('is an error of its own time, path and user if the page stays', () => {
    const { analytics, tags } = capture({ errors: true });
    const at = new Date().toISOString();
    reject(new TypeError(message));
    go('/later');
    analytics.identify('later');
    pass(10_000);
    expect(tags()).toMatchObject([{ message, path: '/' }]);
    expect(analytics.events()[0]).toMatchObject({ timestamp: at });
    expect(analytics.events()[0]!.user_id).toBeUndefined();
  });
});
