import { describe, expect, it } from 'vitest';
import { createRelay } from '../../src/relay/create-relay.js';
import type { RelayOptions } from '../../src/relay/relay-options.js';

const good: RelayOptions = {
  baseUrl: 'https://in.example.com',
  token: 'secret',
  origins: ['https://shop.example'],
  projects: ['p'],
  channels: ['c'],
};
const creating = (options: object) => () => createRelay({ ...good, ...options });

describe('the options of a relay', () => {
  it.each(Object.keys(good))('must have `%s`', (name) => {
    expect(creating({ [name]: undefined })).toThrow(
      new RegExp(`^createRelay: option \`${name}\` is missing: give `),
    );
  });

  it.each([
    ['baseUrl', '/relative'],
    ['baseUrl', 'ftp://in.example.com'],
    ['token', ''],
    ['token', 'two words'],
    ['token', 'line\nbreak'],
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
    ['rateLimit', { perSecond: 0, burst: 1 }],
    ['maxBytes', 0],
    ['timeout', Infinity],
    ['seen', { begin: () => [] }],
    ['queue', {}],
    ['onError', 'log'],
  ])('refuse %s: %j with words', (name, value) => {
    expect(creating({ [name]: value })).toThrow(TypeError);
    expect(creating({ [name]: value })).toThrow(`createRelay: option \`${name}\` must be `);
  });

  it('refuse one that does not exist', () => {
    expect(creating({ orgins: [] })).toThrow('createRelay: option `orgins` does not exist');
  });

  it('want to know the address that is to be forwarded', () => {
    expect(creating({ forwardAddress: true })).toThrow('`forwardAddress` needs `clientAddress`');
  });

  it('never show a token', () => {
    expect(creating({ token: 'a wrong secret' })).toThrow(
      expect.not.objectContaining({
        message: expect.stringContaining('secret') as string,
      }) as Error,
    );
  });
});
