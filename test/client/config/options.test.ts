import { describe, expect, it } from 'vitest';
import { anyForm, relayForm } from '../../../src/client/config/forms.js';
import { BATCH_RECORDS } from '../../../src/interface/wire.js';
import {
  DEFAULTS,
  optionNames,
  readAttributes,
  resolveOptions,
} from '../../../src/client/config/options.js';
import type { Options } from '../../../src/client/types.js';
import { FOREIGN } from './foreign-attributes.js';

const right: Options = {
  baseUrl: 'https://in.test',
  token: 'secret-token',
  project: 'shop',
  channel: 'web',
};

const PAGE = 'https://shop.test/books/?page=2#top';
const resolveAll = (options: unknown, form = anyForm, page = PAGE) =>
  resolveOptions(options as Options, page, form);
const resolve = (options: object) => resolveAll({ ...right, ...options });

const relayed = { relay: '/a', project: 'shop', channel: 'web' };

const problemOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    return (error as Error).message;
  }
  throw new Error('it did not throw');
};

const positives = [
  'flushAt',
  'flushInterval',
  'concurrency',
  'timeout',
  'maxAge',
  'maxRecords',
  'maxBytes',
  'maxRecordBytes',
] as const;
const flags = ['idempotencyKey', 'respectGpc', 'disabled', 'debug'] as const;
const callbacks = ['beforeSend', 'onDrop', 'onError', 'fetch', 'now'] as const;

/** What each option must not be. */
const wrong: [name: string, values: unknown[], words: string][] = [
  [
    'baseUrl',
    [
      ...['', 'in.test', '/v1', 'ftp://in.test', 5, null, {}, [], new URL('https://in.test')],
      // A path cannot be added, or `fetch` refuses it.
      ...['https://in.test?a', 'https://in.test/#a', ' https://in.test', 'https://in.test\n'],
      ...['https://me@in.test', 'https://me:secret@in.test', 'https://:secret@in.test'],
    ],
    'absolute http(s) URL',
  ],
  [
    'token',
    ['', '  ', 'two words', 'tok–en', 'tok\nen', 'tok\n', ' tok', 'tök', '\x7f', 5, null, {}],
    'a string of ASCII characters without spaces, or a function',
  ],
  [
    'relay',
    [
      '',
      'a',
      '//other.test/a',
      '/\\other.test/a',
      'https://me@in.test',
      'ftp://in.test',
      '/a?b',
      '/a#b',
      '/a b',
      5,
      null,
      {},
    ],
    'a path that begins with one slash',
  ],
  ['project', ['', '  ', 5, null, {}], 'non-empty string'],
  ['channel', ['', '  ', 5, null, {}], 'non-empty string'],
  ...positives.map((name): [string, unknown[], string] => [
    name,
    [0, -1, NaN, Infinity, -Infinity, '5', null, {}, true],
    'positive',
  ]),
  ...flags.map((name): [string, unknown[], string] => [
    name,
    ['true', 1, 0, null],
    'true or false',
  ]),
  ...callbacks.map((name): [string, unknown[], string] => [name, ['f', 5, null, {}], 'function']),
  ['context', ['tags', 5, null, true], 'an object or a function'],
  ['consent', ['yes', '', true, null, ['granted'], ['denied']], 'granted, pending or denied'],
];

describe('options', () => {
  it('are tried out here one and all', () => {
    expect(wrong.map(([name]) => name).sort()).toEqual([...optionNames].sort());
  });

  it.each(wrong)('name the wrong `%s` and say what it must be', (name, values, words) => {
    for (const value of values) {
      const message = problemOf(() => resolve({ [name]: value }));
      expect(message).toContain(`\`${name}\``);
      expect(message).toContain(words);
    }
  });

  it.each(['baseUrl', 'token', 'project', 'channel'])('name the missing `%s`', (name) => {
    expect(problemOf(() => resolve({ [name]: undefined }))).toContain(`\`${name}\``);
  });

  it('tell the attribute of the tag, too', () => {
    expect(problemOf(() => resolve({ flushAt: 0 }))).toContain('data-flush-at');
    expect(problemOf(() => resolve({ maxRecordBytes: 0 }))).toContain('data-max-record-bytes');
  });

  it('are told all at once, a line each, in one error', () => {
    const message = problemOf(() =>
      resolveAll({
        baseUrl: 'in.test',
        token: 'two words',
        chanel: 'web',
        flushAt: 0,
        debug: 'no',
      }),
    );
    expect(message.split('\n')).toEqual([
      expect.stringMatching(/^analytics-outbox: option `baseUrl` .+ must be /),
      expect.stringMatching(/^option `token` .+ must be /),
      expect.stringMatching(/^option `chanel` .+ does not exist: did you mean `channel`/),
      expect.stringMatching(/^option `flushAt` .+ must be /),
      expect.stringMatching(/^option `debug` .+ must be /),
      expect.stringMatching(/^option `project` .+ is missing/),
    ]);
  });

  it('are told once each', () => {
    const message = problemOf(() => resolveAll({ ...relayed, relay: 'a', token: '' }, anyForm, ''));
    expect(message.split('\n')).toEqual([
      expect.stringContaining('`relay` (data-relay) must be'),
      expect.stringContaining('`token` (data-token) must be'),
    ]);
  });

  it('with a misspelt way to the destination miss nothing else', () => {
    const { relay, ...rest } = relayed;
    expect(problemOf(() => resolveAll({ ...rest, rely: relay }))).toBe(
      'analytics-outbox: option `rely` (data-rely) does not exist: did you mean `relay` (data-relay)?',
    );
  });

  it('never show a token, but what is wrong with it', () => {
    const message = problemOf(() => resolve({ token: 'sec–ret value' }));
    expect(message).toMatch(/, not "…–… …"$/);
  });

  it.each([
    ['consnet', 'consent'],
    ['flushat', 'flushAt'],
    ['base_url', 'baseUrl'],
    ['tokn', 'token'],
    ['maxRecord', 'maxRecords'],
  ])('named `%s` are taken for a misspelt `%s`', (given, meant) => {
    expect(problemOf(() => resolve({ [given]: 'x' }))).toContain(`did you mean \`${meant}\``);
  });

  it.each(['flushat', 'constructor', 'toString', 'hasOwnProperty'])(
    'do not include `%s`',
    (name) => {
      expect(problemOf(() => resolve({ [name]: 'x' }))).toContain(`\`${name}\``);
    },
  );

  it.each([undefined, null, 'https://in.test', 5])('have to be an object, not %s', (options) => {
    expect(problemOf(() => resolveAll(options))).toContain('object');
  });

  it('get their defaults', () => {
    expect(resolve({})).toEqual({ ...right, ...DEFAULTS, resends: false });
    expect(DEFAULTS).toEqual({
      flushAt: 20,
      flushInterval: 1_000,
      concurrency: 6,
      timeout: 30_000,
      maxAge: 7 * 86_400_000,
      maxRecords: 10_000,
      maxBytes: 5_000_000,
      maxRecordBytes: 60_000,
    });
  });

  it('set to undefined count as not given', () => {
    expect(resolve({ flushAt: undefined, onDrop: undefined })).toEqual({
      ...right,
      ...DEFAULTS,
      resends: false,
    });
  });

  it('that are given win', () => {
    const now = () => 0;
    expect(resolve({ flushAt: 5, now, consent: 'pending', debug: true })).toMatchObject({
      flushAt: 5,
      now,
      consent: 'pending',
      debug: true,
    });
  });

  it('may be left out where the instance is disabled', () => {
    expect(resolveAll({ disabled: true })).toMatchObject({ disabled: true });
  });

  it('are checked though the instance is disabled', () => {
    expect(problemOf(() => resolveAll({ disabled: true, flushAt: 0 }))).toContain('`flushAt`');
  });

  it('do not keep the object that was given', () => {
    const given = { ...right };
    const settings = resolveAll(given);
    given.project = 'other';
    expect(settings.project).toBe('shop');
  });

  it('give no timer more milliseconds than it can count', () => {
    const { timeout, flushInterval } = resolve({ timeout: 3e9, flushInterval: 1e12 });
    expect(Math.max(timeout, flushInterval)).toBeLessThan(2 ** 31);
  });

  it('let a concurrency that is no whole number send all the same', () => {
    let concurrency: number | undefined;
    try {
      ({ concurrency } = resolve({ concurrency: 0.5 }));
    } catch {
      return; // refused in words
    }
    expect(concurrency).toBeGreaterThanOrEqual(1);
  });
});

describe('a relay', () => {
  it('takes a full batch to start a flush, unless told otherwise', () => {
    expect(resolveAll(relayed).flushAt).toBe(BATCH_RECORDS);
    expect(resolveAll({ ...relayed, flushAt: 3 }).flushAt).toBe(3);
  });

  it.each([
    ['/a', 'https://shop.test/a'],
    ['/a/', 'https://shop.test/a'],
    ['/', 'https://shop.test'],
    ['/deep/er//', 'https://shop.test/deep/er'],
    ['https://t.shop.test/a/', 'https://t.shop.test/a'],
    ['http://localhost:8080', 'http://localhost:8080'],
  ])('at %s is the one at %s', (relay, whole) => {
    expect(resolveAll({ ...relayed, relay }).relay).toBe(whole);
  });

  it.each([['about:blank'], ['file:///home/page.html'], ['data:text/html,']])(
    'at a path is refused in words on %s, where there is none',
    (page) => {
      expect(problemOf(() => resolveAll(relayed, anyForm, page))).toMatch(/`relay`.*absolute/);
      const relay = 'https://shop.test/a';
      expect(resolveAll({ ...relayed, relay }, anyForm, page).relay).toBe(relay);
    },
  );

  it.each([
    ['token', 'secret', 'the relay holds it'],
    ['baseUrl', 'https://in.test', 'the relay knows it'],
    ['idempotencyKey', true, 'the relay tells repeats'],
  ])('does not go with `%s`, and says why', (name, value, why) => {
    for (const form of [anyForm, relayForm]) {
      const message = problemOf(() => resolveAll({ ...relayed, [name]: value }, form));
      expect(message).toContain(`\`${name}\``);
      expect(message).toContain(why);
      expect(message).toContain('leave it out');
    }
  });

  it('is named where it is the only way', () => {
    const nowhere = { ...relayed, relay: undefined };
    expect(problemOf(() => resolveAll(nowhere, relayForm))).toContain('`relay`');
    expect(problemOf(() => resolveAll(right, relayForm))).toContain('`baseUrl`');
  });

  it('needs project and channel', () => {
    for (const name of ['project', 'channel']) {
      expect(problemOf(() => resolveAll({ ...relayed, [name]: undefined }))).toContain(name);
    }
  });

  it('is no part of the set-up of an instance that is disabled', () => {
    expect(resolveAll({ disabled: true }, relayForm)).toMatchObject({ disabled: true });
  });
});

describe('attributes of the tag', () => {
  it('are read by the same names', () => {
    expect(
      readAttributes(
        {
          baseUrl: 'https://in.test',
          token: 'tok',
          project: 'shop',
          channel: 'web',
          flushAt: '5',
          idempotencyKey: '',
          debug: 'false',
          consent: 'pending',
          global: 'tracker',
          something: 'else',
        },
        {},
      ),
    ).toEqual({
      baseUrl: 'https://in.test',
      token: 'tok',
      project: 'shop',
      channel: 'web',
      flushAt: 5,
      idempotencyKey: true,
      debug: false,
      consent: 'pending',
    });
  });

  it.each([
    ...['true', 'TRUE', '1', 'yes', 'Yes', 'on', ''].map((text) => [text, true] as const),
    ...['false', 'False', '0', 'no', 'NO', 'off'].map((text) => [text, false] as const),
  ])('switch by "%s" to %s', (text, value) => {
    expect(readAttributes({ debug: text }, {})).toEqual({ debug: value });
  });

  it.each(['maybe', 'debug', ' ', 'truefalse', '01', 'null', 'undefined'])(
    'switch by "%s" to nothing',
    (text) => {
      const options = readAttributes({ debug: text }, {});
      const message = problemOf(() => resolve(options));
      expect(message).toContain('`debug` (data-debug) must be true or false');
      expect(message).toContain(`not "${text}"`);
    },
  );

  it('name functions of the page', () => {
    const track = () => undefined;
    expect(readAttributes({ onDrop: 'track' }, { track })).toEqual({ onDrop: track });
  });

  it.each([
    ['flushAt', 'soon'],
    ['flushAt', '20s'],
    ['flushAt', ''],
    ['timeout', '-1'],
    ['onDrop', 'nowhere'],
    ['consent', 'maybe'],
  ])('of a wrong value are refused in words (%s="%s")', (name, value) => {
    const options = readAttributes({ [name]: value }, {});
    const message = problemOf(() => resolve(options));
    expect(message).toContain(`\`${name}\``);
    expect(message).toContain(`not ${name === 'timeout' ? value : `"${value}"`}`);
  });

  it.each([
    ...['concent', 'konsent', 'consnet', 'consents', 'flushat', 'disable', 'baseurl', 'basUrl'],
    ...['tokn', 'rely', 'projct', 'chanel', 'idempotenceKey', 'glboal', 'Global', 'before_send'],
  ])('that look like `%s` are passed on, to be refused', (name) => {
    const options = readAttributes({ [name]: 'x' }, {});
    expect(options).toEqual({ [name]: 'x' });
    expect(problemOf(() => resolve(options))).toMatch(/does not exist: did you mean `\w+` \(data-/);
  });

  it('of others are left alone', () => {
    const camelCase = (name: string) =>
      name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
    const dataset = Object.fromEntries(FOREIGN.map((name) => [camelCase(name), 'x']));
    expect(readAttributes(dataset, {})).toEqual({});
  });

  it('that are absent leave no trace', () => {
    expect(readAttributes({}, {})).toEqual({});
  });
});
