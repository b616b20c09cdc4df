import { describe, expect, it } from 'vitest';
import { createRelay } from '../../src/relay.js';
import { PASS_ON_KINDS } from '../../src/server/exports/pass-on.js';
import { checkOptions } from '../../src/server/check-options.js';

const ignore = () => {};
const toService = { baseUrl: 'https://in.example.com', token: 'secret' };

type Create = (options: never) => unknown;
interface Case {
  create: Create;
  good: object;
  required: string[];
  /** Each of them wrong. */
  wrong: object;
}

const CASES: Record<string, Case> = {
  createRelay: {
    create: createRelay,
    good: {
      ...{ ...toService, origins: ['https://shop.example'], projects: ['p'], channels: ['c'] },
      rateLimit: false,
    },
    required: ['baseUrl', 'token', 'origins', 'projects', 'channels'],
    wrong: { baseUrl: 'https://in.example.com/?a', concurrency: 1.5, timeout: 0 },
  },
  'createService, `passOn`': {
    create: (passOn) =>
      checkOptions('createService, `passOn`', passOn, {
        kinds: PASS_ON_KINDS,
        required: ['baseUrl', 'token'],
      }),
    good: toService,
    required: ['baseUrl', 'token'],
    wrong: {
      ...{ baseUrl: 'in.example.com', token: 'my secret', maxAge: 0 },
      ...{ idempotencyKey: 'no', concurrency: 0, timeout: '5', fetch: {} },
    },
  },
};

const problemOf = (create: Create, options: unknown): string => {
  try {
    create(options as never);
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    return (error as Error).message;
  }
  return '';
};

describe.each(Object.entries(CASES))('the options of %s', (name, options) => {
  const { create, good, required, wrong } = options;

  it('pass when they are right, also those that are undefined', () => {
    expect(problemOf(create, good)).toBe('');
    const unset = Object.fromEntries(
      Object.keys(wrong)
        .filter((key) => !(key in good))
        .map((key) => [key, undefined]),
    );
    expect(problemOf(create, { ...good, ...unset })).toBe('');
  });

  it('are told all at once, a line each, and never with their value', () => {
    const lines = problemOf(create, { ...good, ...wrong }).split('\n');
    expect(lines[0]).toMatch(new RegExp(`^${name}: option `));
    expect(lines.map((line) => /option `(\w+)` must be ./.exec(line)?.[1]).sort()).toEqual(
      Object.keys(wrong).sort(),
    );
    expect(lines.join()).not.toMatch(/secret|2\.5|in\.example/);
  });

  it('are told where they do not exist, with what was meant', () => {
    const [first] = Object.keys(wrong);
    const misspelt = `${first!}s`;
    const { [first!]: value, ...rest } = { ...wrong, ...good } as Record<string, unknown>;
    const valid = Object.fromEntries(Object.entries(rest).filter(([key]) => key in good));
    expect(problemOf(create, { ...valid, [misspelt]: value })).toBe(
      `${name}: option \`${misspelt}\` does not exist: did you mean \`${first!}\`?`,
    );
    expect(problemOf(create, { ...good, zzz: 1 })).toBe(`${name}: option \`zzz\` does not exist`);
  });

  it('are told where they are missing', () => {
    const given = Object.entries(good).filter(([key]) => !required.includes(key));
    const words = problemOf(create, Object.fromEntries(given));
    const missing = [...words.matchAll(/option `(\w+)` is missing: give ./g)];
    expect(missing.map(([, option]) => option)).toEqual(required);
  });

  it('must be an object', () => {
    for (const options of [null, 'text', 5]) {
      expect(problemOf(create, options)).toBe(`${name}: expected an object of options`);
    }
  });
});

describe('the options of a relay', () => {
  const { create, good } = CASES['createRelay']!;
  const problemWith = (options: object) =>
    problemOf(create, { ...good, rateLimit: undefined, clientAddress: ignore, ...options });

  it.each([
    ['baseUrl', '/relative'],
    ['baseUrl', 'ftp://in.example.com'],
    ['token', ''],
    ['token', 'line\nbreak'],
    ['token', 'dash–ed'],
    ['origins', []],
    ['origins', ['*']],
    ['origins', ['https://shop.example/']],
    ['origins', ['https://*.com']],
    ['origins', 'https://shop.example'],
    ['projects', []],
    ['channels', ['']],
    ['channels', ['*']],
    ['projects', ['shop-*']],
    ['baseUrl', 'https://*.in.example'],
    ['rateLimit', true],
    ['rateLimit', { perSecond: 0, burst: 1 }],
    ['ceiling', true],
    ['ceiling', { perSecond: 1 }],
    ['ceiling', () => 0],
    ['timeout', Infinity],
    ['timeout', 2 ** 31],
    ['deadline', 2 ** 31],
  ])('refuse %s: %j with words', (name, value) => {
    expect(problemWith({ [name]: value })).toContain(`createRelay: option \`${name}\` must be `);
  });

  it.each([{}, { rateLimit: { perSecond: 1, burst: 1 } }, { rateLimit: () => 0 }])(
    'must say how clients are told apart: %j',
    (options) => {
      expect(problemWith({ clientAddress: undefined, ...options })).toBe(
        "createRelay: option `clientAddress` is missing: give a function that gets the client's address " +
          'from a request, or `rateLimit: false` where no client is to be limited',
      );
    },
  );

  it('want to know the address that is to be forwarded', () => {
    const options = { clientAddress: undefined, rateLimit: false, forwardAddress: true };
    expect(problemWith(options)).toContain('`forwardAddress` needs `clientAddress`');
  });
});
