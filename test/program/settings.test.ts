import { describe, expect, it } from 'vitest';
import { readSettings, readStoreUrl, settingLines } from '../../src/program/settings.js';

const good = {
  SERVICE_URL: 'https://in.example.com',
  SERVICE_TOKEN: 'secret',
  SITE_ORIGIN: 'https://shop.example, https://blog.example',
  PROJECTS: 'shop',
  CHANNELS: 'web, growth',
  STORE_URL: 'redis://localhost:6379',
};

describe('the settings of the program', () => {
  it('are read from the environment, and leave the rest of it alone', () => {
    expect(readSettings({ ...good, PATH: '/bin', SERVICE_URLS: 'x' })).toEqual({
      baseUrl: 'https://in.example.com',
      token: 'secret',
      origins: ['https://shop.example', 'https://blog.example'],
      projects: ['shop'],
      channels: ['web', 'growth'],
      storeUrl: 'redis://localhost:6379',
      host: undefined,
      port: 3_000,
      adminPort: undefined,
      addressHeader: undefined,
      rateLimit: undefined,
      ceiling: undefined,
    });
    const more = {
      ...{ PORT: '0', HOST: '127.0.0.1', ADMIN_PORT: '9100', CLIENT_ADDRESS_HEADER: 'x-real-ip' },
      ...{ RATE_LIMIT: '0.5/10', CEILING: 'off', LOG_FORMAT: 'json' },
    };
    expect(readSettings({ ...good, ...more })).toMatchObject({
      ...{ port: 0, host: '127.0.0.1', adminPort: 9_100, addressHeader: 'x-real-ip' },
      ...{ rateLimit: { perSecond: 0.5, burst: 10 }, ceiling: false },
    });
  });

  it('are all in the help', () => {
    const help = settingLines().join('\n');
    for (const name of [...Object.keys(good), 'HOST', 'ADMIN_PORT', 'LOG_FORMAT', 'CEILING'])
      expect(help).toContain(`${name} `);
  });

  it.each(Object.keys(good))('must have %s, and an empty one is none', (name) => {
    for (const value of [undefined, '']) {
      expect(() => readSettings({ ...good, [name]: value })).toThrow(
        `\`${name}\` is missing: give `,
      );
    }
  });

  it.each([
    ['SERVICE_URL', 'in.example.com'],
    ['SERVICE_TOKEN', 'my secret'],
    ['SITE_ORIGIN', 'https://shop.example/'],
    ['SITE_ORIGIN', 'https://shop.example,'],
    ['PROJECTS', 'shop,,blog'],
    ['CHANNELS', ' '],
    ['STORE_URL', 'localhost:6379'],
    ['STORE_URL', 'file:'],
    ['STORE_URL', 'file: '],
    ['STORE_URL', 'file:~/relay'],
    ['STORE_URL', 'file:/var/lib/relay '],
    ['STORE_URL', 'redis://localhost:6379\n'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['ADMIN_PORT', 'x'],
    ['CLIENT_ADDRESS_HEADER', 'x real ip'],
    ['CLIENT_ADDRESS_HEADER', 'x-real-ip:'],
    ['RATE_LIMIT', '100'],
    ['CEILING', '0/5'],
    ['LOG_FORMAT', 'xml'],
  ])('refuse %s=%j without showing it', (name, value) => {
    const read = () => readSettings({ ...good, [name]: value });
    expect(read).toThrow(`\`${name}\` must be `);
    expect(read).not.toThrow('my secret');
  });

  it('need only the store for dead letters', () => {
    expect(readStoreUrl({ STORE_URL: 'file:/x' })).toBe('file:/x');
    expect(() => readStoreUrl({})).toThrow('`STORE_URL` is missing');
    expect(() => readStoreUrl({ STORE_URL: 'x' })).toThrow('`STORE_URL` must be ');
  });
});
