import { describe, expect, it } from 'vitest';
import { DEFAULTS, optionNames, readAttributes, resolveOptions } from '../../src/config/options.js';
import type { Options } from '../../src/types.js';

const right: Options = {
  baseUrl: 'https://in.test',
  token: 'secret-token',
  project: 'shop',
  channel: 'web',
};

const resolve = (options: object) => resolveOptions({ ...right, ...options } as Options);

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
const flags = ['idempotencyKey', 'disabled', 'debug'] as const;
const callbacks = ['beforeSend', 'onDrop', 'onError', 'fetch', 'now'] as const;

/** What each option must not be. */
const wrong: [name: string, values: unknown[], words: string][] = [
  [
    'baseUrl',
    ['', 'in.test', '/v1', 'ftp://in.test', 5, null, {}, [], new URL('https://in.test')],
    'absolute http(s) URL',
  ],
  ['token', ['', '  ', 5, null, {}], 'non-empty string or a function'],
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

  it.each(['flushat', 'relay', 'constructor', 'toString', 'hasOwnProperty'])(
    'do not include `%s`',
    (name) => {
      expect(problemOf(() => resolve({ [name]: 'x' }))).toContain(`\`${name}\``);
    },
  );

  it.each([undefined, null, 'https://in.test', 5])('have to be an object, not %s', (options) => {
    expect(problemOf(() => resolveOptions(options as unknown as Options))).toContain('object');
  });

  it('get their defaults', () => {
    expect(resolve({})).toEqual({ ...right, ...DEFAULTS });
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
    expect(resolve({ flushAt: undefined, onDrop: undefined })).toEqual({ ...right, ...DEFAULTS });
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
    expect(resolveOptions({ disabled: true } as Options)).toMatchObject({ disabled: true });
  });

  it('are checked though the instance is disabled', () => {
    expect(problemOf(() => resolveOptions({ disabled: true, flushAt: 0 } as Options))).toContain(
      '`flushAt`',
    );
  });

  it('do not keep the object that was given', () => {
    const given = { ...right };
    const settings = resolveOptions(given);
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

  it('name functions of the page', () => {
    const track = () => undefined;
    expect(readAttributes({ onDrop: 'track' }, { track })).toEqual({ onDrop: track });
  });

  it.each([
    ['flushAt', 'soon'],
    ['flushAt', ''],
    ['timeout', '-1'],
    ['onDrop', 'nowhere'],
    ['consent', 'maybe'],
  ])('of a wrong value are refused in words (%s="%s")', (name, value) => {
    const options = readAttributes({ [name]: value }, {});
    expect(problemOf(() => resolve(options))).toContain(`\`${name}\``);
  });

  it('that are absent leave no trace', () => {
    expect(readAttributes({}, {})).toEqual({});
  });
});
