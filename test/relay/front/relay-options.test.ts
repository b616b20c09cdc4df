import { describe, expect, it } from 'vitest';
import { createRelay } from '../../../src/relay/front/create-relay.js';
import type { RelayOptions } from '../../../src/relay/front/relay-options.js';

const good: RelayOptions = {
  baseUrl: 'https://in.example.com',
  token: 'secret',
  origins: ['https://shop.example'],
  projects: ['p'],
  channels: ['c'],
  clientAddress: () => '192.0.2.1',
};
const creating = (options: object) => () => createRelay({ ...good, ...options });

describe('the options of a relay', () => {
  it.each([
    ['baseUrl', '/relative'],
    ['baseUrl', 'ftp://in.example.com'],
    ['token', ''],
    ['token', 'two words'],
    ['token', 'line\nbreak'],
    ['token', 'dash–ed'],
    ['origins', []],
    ['origins', ['*']],
    ['origins', ['https://shop.example/']],
    ['origins', ['https://shop.example:443']],
    ['origins', ['null']],
    ['origins', 'https://shop.example'],
    ['projects', []],
    ['channels', ['']],
    ['allowMissingOrigin', 'yes'],
    ['rateLimit', true],
    ['ceiling', true],
    ['ceiling', { perSecond: 1 }],
    ['ceiling', () => 0],
    ['rateLimit', { perSecond: 0, burst: 1 }],
    ['maxBytes', 0],
    ['timeout', Infinity],
    ['timeout', 2 ** 31],
    ['bodyTimeout', 1e12],
    ['deadline', 2 ** 31],
    ['seen', { begin: () => [] }],
    ['queue', {}],
    ['onError', 'log'],
  ])('refuse %s: %j with words', (name, value) => {
    expect(creating({ [name]: value })).toThrow(TypeError);
    expect(creating({ [name]: value })).toThrow(`createRelay: option \`${name}\` must be `);
  });

  it.each([{}, { rateLimit: { perSecond: 1, burst: 1 } }, { rateLimit: () => 0 }])(
    'must say how clients are told apart: %j',
    (options) => {
      expect(creating({ clientAddress: undefined, ...options })).toThrow(
        "createRelay: option `clientAddress` is missing: give a function that gets the client's address " +
          'from a request, or `rateLimit: false` where no client is to be limited',
      );
    },
  );

  it('may say that no client is limited', () => {
    expect(creating({ clientAddress: undefined, rateLimit: false })).not.toThrow();
  });

  it('want to know the address that is to be forwarded', () => {
    const options = { clientAddress: undefined, rateLimit: false, forwardAddress: true };
    expect(creating(options)).toThrow('`forwardAddress` needs `clientAddress`');
  });
});
