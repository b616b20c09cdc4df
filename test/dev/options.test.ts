import { describe, expect, it } from 'vitest';
import { doubtsOf, misspelt, optionsProblem } from '../../src/dev/options.js';
import { OPTIONS, resolveOptions } from '../../src/client/options.js';
import type { Options } from '../../src/client/types.js';
import { FOREIGN } from './foreign-attributes.js';

const DIRECT = { baseUrl: 'https://in.example.com', token: 't', project: 'shop', channel: 'web' };
const RELAY = { relay: '/a', project: 'shop', channel: 'web' };

const refuses = (options: unknown, mayBeDirect: boolean): boolean => {
  try {
    resolveOptions(options as Options, 'https://site.example', mayBeDirect);
    return false;
  } catch {
    return true;
  }
};

describe('what a developer is told of the options', () => {
  const CASES: Record<string, [options: unknown, lines: string[]]> = {
    'nothing of right ones': [DIRECT, []],
    'nothing of those of a relay': [RELAY, []],
    'nothing of a disabled instance': [{ disabled: true }, []],
    'one that is like no other': [
      { ...DIRECT, colour: 'blue' },
      ['option `colour` (data-colour) does not exist: leave it out'],
    ],
    'a wrong value': [
      { ...DIRECT, flushAt: true },
      ['option `flushAt` (data-flush-at) must be a number, not true'],
    ],
    'the text of an attribute that is no number': [
      { ...DIRECT, timeout: NaN },
      ['option `timeout` (data-timeout) must be a number, not "20s"'],
    ],
  };

  for (const [what, [options, lines]] of Object.entries(CASES)) {
    it(`is ${what}`, () => {
      const problem = optionsProblem(options, true, { timeout: '20s' });
      expect(problem.split('\n').filter(Boolean)).toEqual(lines);
    });
  }

  it('is something wherever `init` throws, and nothing where it does not', () => {
    const values = [
      undefined,
      null,
      '',
      'x',
      'https://in.example',
      '/a',
      0,
      5,
      true,
      () => 1,
      {},
      [],
    ];
    for (const base of [DIRECT, RELAY, {}]) {
      for (const name of [...Object.keys(OPTIONS), 'other']) {
        for (const value of values) {
          for (const mayBeDirect of [true, false]) {
            const options = { ...base, [name]: value };
            const isTold = optionsProblem(options, mayBeDirect) !== '';
            expect([options, mayBeDirect, isTold]).toEqual([
              options,
              mayBeDirect,
              refuses(options, mayBeDirect),
            ]);
          }
        }
      }
    }
  });
});

describe('what a developer is told of values that are not used', () => {
  it('is the number, the range and the default, with the unit', () => {
    expect(doubtsOf({ ...RELAY, flushAt: 0 })).toEqual([
      '`flushAt` is 0 records; it must be 1 to 1,000,000,000 records; 50 is used',
    ]);
  });

  it('is a switch of the tag that says neither on nor off', () => {
    const dataset = { debug: 'yes', disabled: 'false', respectGpc: '', project: 'no', theme: 'x' };
    expect(doubtsOf(DIRECT, dataset)).toEqual([
      '`data-debug` is "yes": write true or false; it counts as not given',
    ]);
  });
});

describe('what a developer is told of the tag’s attributes', () => {
  it('is a misspelt name, and what was meant', () => {
    expect(misspelt({ gobal: 'outbox' })).toEqual([
      'the tag has no attribute data-gobal: did you mean data-global?',
    ]);
    expect(misspelt({ baseurl: 'https://in.example' })).toEqual([
      'the tag has no attribute data-baseurl: did you mean data-base-url?',
    ]);
  });

  it('is nothing of those of other tools, unless they were taken for ours', () => {
    const inCamelCase = (name: string) =>
      name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const dataset = Object.fromEntries(FOREIGN.map((name) => [inCamelCase(name), 'x']));
    expect(misspelt(dataset)).toEqual([]);
    expect(misspelt({ auto: '', autoOptions: 'x', anonymousId: '', global: 'x' })).toEqual([]);
  });
});
