import { describe, expect, it } from 'vitest';
import { rangesOf, resolveOptions } from '../../src/client/options.js';
import type { Options } from '../../src/client/types.js';
import { DIRECT, RELAY } from '../support/site.js';

const SITE = 'https://site.example';
const resolve = (options: object, mayBeDirect = true) =>
  resolveOptions(options as Options, SITE, mayBeDirect);

describe('options', () => {
  it('have defaults', () => {
    expect(resolve(DIRECT)).toMatchObject({
      flushAt: 20,
      flushInterval: 1_000,
      concurrency: 6,
      timeout: 30_000,
      maxAge: 7 * 24 * 60 * 60 * 1_000,
      maxRecords: 10_000,
      maxRecordBytes: 60_000,
      resends: false,
    });
  });

  it.each(Object.entries(rangesOf(DIRECT)))('that are numbers have a range: %s', (name, range) => {
    const [usual, least, most] = range;
    const used = (value: number) => resolve({ ...DIRECT, [name]: value })[name as 'timeout'];
    expect([least, most].map(used)).toEqual([least, most]);
    for (const value of [0, -1, least - 1, least - 0.5, most + 1, Infinity, -Infinity])
      expect(used(value)).toBe(usual);
    if (/flushInterval|timeout/.test(name)) expect(most).toBeLessThan(2 ** 31); // what a timer takes
  });

  it('resolve a relay’s path, and fill its batches', () => {
    expect(resolve(RELAY)).toMatchObject({ relay: `${SITE}/a`, flushAt: 50, resends: true });
    expect(resolve({ ...RELAY, flushAt: 5 }).flushAt).toBe(5);
    expect(resolve({ ...RELAY, flushAt: 0 }).flushAt).toBe(50);
  });

  it('do not depend on a slash at the end of an address', () => {
    expect(resolve({ ...DIRECT, baseUrl: 'https://in.example.com/x/' }).baseUrl).toBe(
      'https://in.example.com/x',
    );
    expect(resolve({ ...RELAY, relay: '/a/' }).relay).toBe(`${SITE}/a`);
  });

  it('send again what may have arrived where the service knows repeats', () => {
    expect(resolve({ ...DIRECT, idempotencyKey: true }).resends).toBe(true);
  });

  it.each<[string, object]>([
    ['project,channel,baseUrl,token', {}],
    ['token', { ...DIRECT, token: undefined }],
    ['token', { ...DIRECT, token: 'a token' }],
    ['baseUrl', { ...DIRECT, baseUrl: '/in' }],
    ['baseUrl', { ...DIRECT, baseUrl: 'https://in.example.com?x=1' }],
    ['baseUrl', { ...DIRECT, baseUrl: 'ftp://in.example' }],
    ['baseUrl', { ...DIRECT, baseUrl: 'https://' }],
    ['baseUrl', { ...DIRECT, baseUrl: 'https://me@in.example' }],
    ['token', { ...DIRECT, token: 5 }],
    ['token', { ...DIRECT, token: 'line\nbreak' }],
    ['project', { ...DIRECT, project: ' ' }],
    ['project', { ...DIRECT, project: null }],
    ['fetch', { ...DIRECT, fetch: 'fetch' }],
    ['endpoint,project', { ...DIRECT, endpoint: '/a', project: undefined }],
    ['flushAt', { ...DIRECT, flushAt: '20' }],
    ['timeout', { ...DIRECT, timeout: NaN }],
    ['consent', { ...DIRECT, consent: 'yes' }],
    ['beforeSend', { ...DIRECT, beforeSend: 'filter' }],
    ['flushat', { ...DIRECT, flushat: 5 }],
    ['token', { ...RELAY, token: 't' }],
    ['relay', { ...RELAY, relay: '//other.example' }],
    ['debug,consent', { ...DIRECT, debug: 'true', consent: 'no' }],
  ])('that are wrong or missing are named: %s', (names, options) => {
    expect(() => resolve(options)).toThrow(
      new TypeError(`analytics-outbox: wrong or missing: ${names}`),
    );
  });

  it('must name a relay where nothing else is reached', () => {
    expect(() => resolve({ project: 'shop', channel: 'web' }, false)).toThrow('relay');
    expect(resolve(RELAY, false).relay).toBe(`${SITE}/a`);
  });

  it('may be left out with `disabled`', () => {
    expect(resolve({ disabled: true }).disabled).toBe(true);
  });
});
