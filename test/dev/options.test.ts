import { expect, it } from 'vitest';
import { doubtsOf, misspelt, optionsProblem } from '../../src/dev/options.js';
import { OPTIONS, problemsOf, resolveOptions } from '../../src/client/options.js';
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

it('tells something of options wherever `init` throws, and nothing where it does not', () => {
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
          const isTold =
            optionsProblem(options, problemsOf(options as Options, mayBeDirect)) !== '';
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

// The words are in the folder `mistakes`.
it('tells nothing of attributes of other tools, unless they were taken for ours', () => {
  const inCamelCase = (name: string) =>
    name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const dataset = Object.fromEntries(FOREIGN.map((name) => [inCamelCase(name), 'x']));
  expect(misspelt(dataset)).toEqual([]);
  expect(misspelt({ auto: '', autoOptions: 'x', anonymousId: '', global: 'x' })).toEqual([]);
  expect(doubtsOf(RELAY, { disabled: 'false', respectGpc: '', project: 'no', x: 'x' })).toEqual([]);
});
