import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  readSettings,
  readStoreSettings,
  readToken,
  settingLines,
} from '../../src/program/settings.js';
import { tempFolder } from '../support/temp-folder.js';

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
      port: 3_000,
      idempotencyKey: true,
      bounds: {},
      ids: {},
    });
    const settings = {
      ...{
        CONCURRENCY: '8',
        TIMEOUT_SECONDS: '2.5',
        IDEMPOTENCY_KEYS: 'off',
        SERVICE_RATE: '50/10',
      },
      ...{ MAX_WAITING: '5000', MAX_AGE_DAYS: '3', ID_DAYS: '0.5', MAX_IDS: '9', PREFIX: 'shop' },
    };
    expect(readSettings({ ...good, ...settings })).toMatchObject({
      ...{ concurrency: 8, timeout: 2_500, idempotencyKey: false, prefix: 'shop' },
      ...{
        maxAge: 3 * 86_400_000,
        ids: { maxAge: 43_200_000, maxIds: 9 },
        bounds: { maxWaiting: 5_000 },
      },
      serviceRate: { perSecond: 50, burst: 10 },
    });
    const proxiesIn = (value: string) =>
      readSettings({ ...good, TRUSTED_PROXIES: value }).trustedProxies;
    expect(proxiesIn('2')).toBe(2);
    expect(proxiesIn('10.0.0.0/8, 2001:db8::/32, ::1')).toEqual([
      '10.0.0.0/8',
      '2001:db8::/32',
      '::1',
    ]);
    const any = { PROJECTS: '*', CHANNELS: 'web,*' };
    expect(readSettings({ ...good, ...any })).toMatchObject({ projects: '*', channels: '*' });
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
    ['TRUSTED_PROXIES', '0'],
    ['TRUSTED_PROXIES', '10.0.0.0/33'],
    ['TRUSTED_PROXIES', 'proxy.example'],
    ['CONCURRENCY', '0'],
    ['TIMEOUT_SECONDS', '-1'],
    ['IDEMPOTENCY_KEYS', 'true'],
    ['SITE_ORIGIN', 'null'],
    ['PORT', 'x'.repeat(10_000)],
  ])('refuse %s=%j, and show it unless it may be a secret', (name, value) => {
    const read = () => readSettings({ ...good, [name]: value });
    expect(read).toThrow(`\`${name}\` must be `);
    const isSecret = ['SERVICE_URL', 'SERVICE_TOKEN', 'STORE_URL'].includes(name);
    if (isSecret) expect(read).not.toThrow(', not ');
    else expect(read).toThrow(`, not ${JSON.stringify(value.slice(0, 100))}`);
    expect(read).toThrow(/^[^]{0,400}$/);
  });

  it('that are misspelt are told, and no others', () => {
    const told = (environment: NodeJS.ProcessEnv) => {
      const lines: string[] = [];
      const say = (line: string) => lines.push(line);
      try {
        readSettings(environment, say);
      } catch {
        // It is told all the same, and first: the setting that was meant may be what is missing.
      }
      return lines;
    };
    const { SITE_ORIGIN, ...others } = good;
    expect(told({ ...others, SITE_ORIGINS: SITE_ORIGIN, SERVICE_TOKENFILE: '/x' })).toEqual([
      '`SITE_ORIGINS` is no setting: did you mean `SITE_ORIGIN`?',
      '`SERVICE_TOKENFILE` is no setting: did you mean `SERVICE_TOKEN_FILE`?',
    ]);
    const usual = { PATH: '/bin', HOME: '/root', HOSTNAME: 'x', PWD: '/', POSTGRES_PORT: '1' };
    expect(told({ ...good, ...usual, SITE_ORIGINS: 'x', LOG_FORMATS: '' })).toEqual([]);
  });

  it('take the origins of apps and extensions', () => {
    const list = 'capacitor://localhost, chrome-extension://abc, app://-';
    expect(readSettings({ ...good, SITE_ORIGIN: list }).origins).toEqual(list.split(', '));
  });

  it('may have secrets in files, and the token is read again from there', () => {
    const path = join(tempFolder(), 'token');
    writeFileSync(path, 'tok_1\n');
    const environment = { ...good, SERVICE_TOKEN: '', SERVICE_TOKEN_FILE: path };
    expect(readSettings(environment).token).toBe('tok_1');
    const both = { ...environment, SERVICE_TOKEN: 'tok_0' };
    expect(() => readSettings(both)).toThrow('`SERVICE_TOKEN_FILE`: give one of the two');
    writeFileSync(path, 'tok_2\n');
    expect(readToken(environment)).toBe('tok_2');
    writeFileSync(path, 'tok 3\n');
    expect(() => readToken(environment)).toThrow('`SERVICE_TOKEN` must be ');
  });

  it('need only the store for dead letters', () => {
    expect(readStoreSettings({ STORE_URL: 'file:/x', PREFIX: 'shop' })).toMatchObject({
      ...{ storeUrl: 'file:/x', prefix: 'shop' },
    });
    expect(() => readStoreSettings({})).toThrow('`STORE_URL` is missing');
    expect(() => readStoreSettings({ STORE_URL: 'x' })).toThrow('`STORE_URL` must be ');
  });
});
