import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  inSettings,
  readNotifySettings,
  readPlaces,
  readServiceToken,
  readSettings,
  readTailSettings,
} from '../../src/program/settings.js';
import { NAMES, OTHER_NAMES, settingLines } from '../../src/program/settings-table.js';
import { tempFolder } from '../support/temp-folder.js';

/** What a program needs in order to pass records on. */
const RELAY = {
  SERVICE_URL: 'https://in.example.com',
  SERVICE_TOKEN: 'secret',
  SITE_ORIGIN: 'https://shop.example, https://blog.example',
  PROJECTS: 'shop',
  CHANNELS: 'web, growth',
};
const NOTHING = { ...RELAY, DATA_FOLDER: 'none' };

describe('the settings of the program', () => {
  it('may all be left out: it stores in a folder of its own, for this machine alone', () => {
    expect(readSettings({ PATH: '/bin' })).toEqual({
      store: { folder: 'analytics-data', databaseUrl: 'file:analytics-data/rows.db', exports: [] },
      keepsNothing: false,
      projects: '*',
      channels: '*',
      host: '127.0.0.1',
    });
  });

  it('are read from the environment', () => {
    const common = {
      ...{ PORT: '0', HOST: '::', ADMIN_PORT: '9100', CLIENT_ADDRESS_HEADER: 'x-real-ip' },
      ...{ RATE_LIMIT: '0.5/10', CEILING: 'off', LOG_FORMAT: 'json', CHANNELS: 'web,*' },
      ...{ IGNORE_ADDRESSES: '192.0.2.1, 2001:db8::/48', GPC: 'drop' },
    };
    expect(readSettings(common)).toMatchObject({
      ...{ port: 0, host: '::', adminPort: 9_100, addressHeader: 'x-real-ip', channels: '*' },
      ...{ rateLimit: { perSecond: 0.5, burst: 10 }, ceiling: false },
      ...{ ignoreAddresses: ['192.0.2.1', '2001:db8::/48'], gpc: 'drop' },
    });
    const ofStore = {
      ...{ DATA_FOLDER: '/data', DATABASE_URL: 'postgres://localhost/x', RETENTION_DAYS: '30' },
      EXPORT: 'clickhouse://u:p@warehouse/db\n file:/parts',
      ...{ READ_TOKEN: 'sixteen-letters-', WRITE_TOKENS: 'shop=a=b, blog=c,news=c,*=d' },
    };
    expect(readSettings(ofStore)).toEqual(
      expect.objectContaining({
        store: {
          ...{ folder: '/data', databaseUrl: 'postgres://localhost/x', retentionDays: 30 },
          readToken: 'sixteen-letters-',
          exports: ['clickhouse://u:p@warehouse/db', 'file:/parts'],
          writeTokens: [
            { token: 'a=b', projects: ['shop'] },
            { token: 'c', projects: ['blog', 'news'] },
            { token: 'd', projects: '*' },
          ],
        },
      }),
    );
    const ofService = {
      ...{ CONCURRENCY: '8', TIMEOUT_SECONDS: '2.5', SERVICE_RATE: '50/10' },
      ...{ IDEMPOTENCY_KEYS: 'off', MAX_AGE_DAYS: '3' },
    };
    expect(
      readSettings({ ...RELAY, ...ofService, ...ofStore, WRITE_TOKENS: 'shop=a' }),
    ).toMatchObject({
      service: {
        ...{ baseUrl: RELAY.SERVICE_URL, token: 'secret', concurrency: 8, timeout: 2_500 },
        ...{ rate: { perSecond: 50, burst: 10 }, idempotencyKey: false, maxAge: 3 * 86_400_000 },
      },
      store: { folder: '/data' },
      origins: ['https://shop.example', 'https://blog.example'],
      projects: ['shop'],
      channels: ['web', 'growth'],
    });
  });

  it.each([
    ['2', 2],
    ['10.0.0.0/8, 2001:db8::/32, ::1', ['10.0.0.0/8', '2001:db8::/32', '::1']],
  ])('name the proxies %s', (TRUSTED_PROXIES, trustedProxies) => {
    expect(readSettings({ TRUSTED_PROXIES })).toMatchObject({ trustedProxies });
  });

  it('take the origins of apps, extensions and subdomains', () => {
    const list = 'capacitor://localhost, chrome-extension://abc, app://-, https://*.shop.example';
    expect(readSettings({ SITE_ORIGIN: list }).origins).toEqual(list.split(', '));
  });

  it('are all in the help, each where it has a meaning', () => {
    const help = settingLines().join('\n');
    for (const name of NAMES) expect(help).toMatch(new RegExp(`^  ${name} +\\S`, 'm'));
    const [, always = '', stores = '', passesOn = ''] =
      /^([^]*)Only without DATA_FOLDER=none:([^]*)Only with SERVICE_URL:([^]*)/.exec(help)!;
    expect([always, stores, passesOn]).toEqual(
      ['SITE_ORIGIN', 'READ_TOKEN', 'CONCURRENCY'].map((name) =>
        expect.stringContaining(`${name} `),
      ),
    );
    expect(help).toContain('CONCURRENCY            requests to it at a time (32)\n');
  });

  it.each(['SERVICE_TOKEN', 'SITE_ORIGIN', 'PROJECTS', 'CHANNELS'])(
    'must have %s where they pass records on',
    (name) => {
      expect(() => readSettings({ ...RELAY, [name]: undefined })).toThrow(
        `option \`${name}\` is missing: give `,
      );
    },
  );

  it('must not be empty: a value that was not filled in would make another program', () => {
    for (const name of NAMES)
      expect(() => readSettings({ ...RELAY, [name]: '' }), name).toThrow(
        /must be .*, not ""|is only for a program/,
      );
    expect(() => readSettings({ ...RELAY, SERVICE_URL: '' })).toThrow('`SERVICE_URL` must be ');
    expect(() => readSettings({ READ_TOKEN_FILE: '' })).toThrow('`READ_TOKEN_FILE`: ENOENT');
  });

  it.each<[name: string, value: string, environment: NodeJS.ProcessEnv, words: string]>([
    ['SERVICE_TOKEN', 'tok', {}, 'with SERVICE_URL'],
    ['CONCURRENCY', '1', {}, 'with SERVICE_URL'],
    ['TIMEOUT_SECONDS', '1', {}, 'with SERVICE_URL'],
    ['SERVICE_RATE', '1/1', {}, 'with SERVICE_URL'],
    ['IDEMPOTENCY_KEYS', 'on', {}, 'with SERVICE_URL'],
    ['DATABASE_URL', 'file:/x', NOTHING, 'without DATA_FOLDER=none'],
    ['READ_TOKEN', 'sixteen-letters-', NOTHING, 'without DATA_FOLDER=none'],
    ['WRITE_TOKENS', 'shop=tok', NOTHING, 'without DATA_FOLDER=none'],
    ['RETENTION_DAYS', '1', NOTHING, 'without DATA_FOLDER=none'],
    ['MAX_AGE_DAYS', '1', {}, 'with SERVICE_URL'],
  ])('refuse %s=%s where it has no meaning', (name, value, environment, words) => {
    expect(() => readSettings({ ...environment, [name]: value })).toThrow(
      `wrong settings: option \`${name}\` is only for a program ${words}`,
    );
  });

  it.each([
    ['SERVICE_URL', 'in.example.com'],
    ['SERVICE_TOKEN', 'my secret'],
    ['SITE_ORIGIN', 'https://shop.example/'],
    ['SITE_ORIGIN', 'https://shop.example,'],
    ['SITE_ORIGIN', '*'],
    ['SITE_ORIGIN', 'https://*.com'],
    ['SERVICE_URL', 'https://*.in.example'],
    ['PUBLIC_URL', 'https://*.in.example'],
    ['PUBLIC_URL', 'https://in.example/rows'],
    ['PROJECTS', 'shop blog'],
    ['CHANNELS', 'web, mobile app'],
    ['PROJECTS', 'shop-*'],
    ['CHANNELS', 'web,app-*'],
    ['WRITE_TOKENS', 'shop-*=tok_1'],
    ['READ_TOKENS', 'shop-*=read-token-of-shop'],
    ['PROJECTS', 'shop,,blog'],
    ['CHANNELS', ' '],
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
    ['IGNORE_ADDRESSES', '192.0.2.1 192.0.2.2'],
    ['GPC', 'on'],
    ['NOTIFY_EVENTS', 'shop/orders'],
    ['CONCURRENCY', '0'],
    ['TIMEOUT_SECONDS', '-1'],
    ['IDEMPOTENCY_KEYS', 'true'],
    ['SITE_ORIGIN', 'null'],
    ['PORT', 'x'.repeat(10_000)],
    ['WRITE_TOKENS', 'my secret'],
    ['READ_TOKEN', 'my secret'],
    ['DATABASE_URL', 'mysql://localhost'],
    ['DATABASE_URL', 'postgres://me:my#word@localhost/db'],
    ['DATABASE_URL', 'postgres://me:12/word@localhost/db'],
    ['RETENTION_DAYS', 'ten'],
    ['NOTIFY', 'http://hooks.example/secret'],
    ['NOTIFY_SECRET', 'my secret'],
    ['PUBLIC_URL', 'in.example.com'],
  ])('refuse %s=%j, and show it unless it may be a secret', (name, value) => {
    const isOfStore = /^(WRITE|READ|DATA|RETENTION|NOTIFY|PUBLIC)/.test(name);
    const settings = isOfStore ? {} : RELAY;
    const reading = () => readSettings({ ...settings, [name]: value });
    expect(reading).toThrow(`\`${name}\` must be `);
    if (/_URL|_TOKEN|NOTIFY(?!_EVENTS)/.test(name) && name !== 'PUBLIC_URL')
      expect(reading).not.toThrow(', not ');
    else expect(reading).toThrow(`, not ${JSON.stringify(value.slice(0, 100))}`);
    expect(reading).toThrow(/^[^]{0,400}$/);
  });

  it('refuse a read token that is short, or that pages know', () => {
    expect(() => readSettings({ READ_TOKEN: 'fifteen-letters' })).toThrow(
      '`READ_TOKEN` must be a token of 16 characters or more',
    );
    const token = 'token-of-16-signs';
    const both = { READ_TOKEN: token, WRITE_TOKENS: `a=tok,b=${token}` };
    expect(() => readSettings(both)).toThrow('`READ_TOKEN` must be another than');
    expect(() => readSettings(both)).toThrow(/^(?!.*token-of)/s);
  });

  it('refuse a read token of a project that is short, for all projects, or one of another kind', () => {
    const token = 'token-of-16-signs';
    const reading =
      (READ_TOKENS: string, more = {}) =>
      () =>
        readSettings({ READ_TOKENS, ...more });
    expect(reading(`shop=${token},blog=${token}2`)().store.readTokens).toEqual([
      ...[{ project: 'shop', token }],
      ...[{ project: 'blog', token: `${token}2` }],
    ]);
    for (const wrong of [`*=${token}`, 'shop=short', token, `shop=${token},`])
      expect(reading(wrong)).toThrow('`READ_TOKENS` must be pairs of a project and its token');
    for (const [list, more] of [
      [`shop=${token},blog=${token}`, {}],
      [`shop=${token}`, { READ_TOKEN: token }],
      [`shop=${token}`, { WRITE_TOKENS: `shop=${token}` }],
    ] as const) {
      expect(reading(list, more)).toThrow('`READ_TOKENS` must have a token of its own for each');
      expect(reading(list, more)).toThrow(/^(?!.*token-of)/s);
    }
  });

  it('say where messages go, and refuse what is missing for that', () => {
    const [ntfy, webhook] = ['ntfy://ntfy.sh/topic-1', 'https://hooks.example/a'];
    const events = { NOTIFY_EVENTS: 'shop/orders/*, blog/*/*' };
    const NOTIFY_SECRET = `whsec_${'a'.repeat(32)} whsec_${'b'.repeat(32)}`;
    const all = { NOTIFY: `${ntfy}\n ${webhook}`, ...events, NOTIFY_SECRET };
    expect(readSettings({ ...all, PUBLIC_URL: 'https://in.example' }).notify).toMatchObject({
      addresses: [{ kind: 'ntfy' }, { kind: 'webhook' }],
      secrets: NOTIFY_SECRET.split(' '),
      events: ['shop/orders/*', 'blog/*/*'],
      publicUrl: 'https://in.example',
    });
    expect(() => readSettings({ NOTIFY: ntfy })).toThrow(
      '`NOTIFY_EVENTS` is missing: give patterns',
    );
    expect(() => readSettings({ NOTIFY: webhook, ...events })).toThrow(
      '`NOTIFY_SECRET` is missing: give "whsec_"',
    );
    expect(() => readSettings({ NOTIFY: `${ntfy} ${ntfy}`, ...events })).toThrow(
      '`NOTIFY` names an address twice',
    );
    expect(() => readSettings(events)).toThrow('`NOTIFY_EVENTS` is for `NOTIFY`, which is missing');
    expect(() =>
      readSettings({ ...all, NOTIFY: 'https://hooks.slack.com/services/secret' }),
    ).toThrow(
      '`NOTIFY` has an address of hooks.slack.com that must begin with `slack+https://hooks.slack.com/`',
    );
    expect(() => readSettings({ ...all, PROJECTS: 'shop' })).toThrow(
      '`NOTIFY_EVENTS` names the project "blog", that `PROJECTS` (shop) does not list',
    );
    expect(() => readNotifySettings({})).toThrow('`NOTIFY` is missing');
  });

  it.each([
    ['shop=tok_1,blog=tok_2', 'shop', false],
    ['shop=tok_1', 'shop,blog', true],
    ['shop=tok_1', '*', true],
    ['*=tok_1', 'shop', true],
  ])('take the tokens %s with the projects %s: %s', (WRITE_TOKENS, PROJECTS, isFine) => {
    const reading = () => readSettings({ WRITE_TOKENS, PROJECTS });
    if (isFine) expect(reading).not.toThrow();
    else expect(reading).toThrow('has a token for a project that `PROJECTS` (shop) does not list');
  });

  it('refuse a read token of a project that is not listed', () => {
    const READ_TOKENS = 'shop=token-of-16-signs,blog=token-of-17-signs.';
    expect(() => readSettings({ READ_TOKENS, PROJECTS: 'shop' })).toThrow(
      '`READ_TOKENS` has a token for a project that `PROJECTS` (shop) does not list',
    );
  });

  it('take an address of Postgres with signs of a password in percents, or without a host', () => {
    for (const DATABASE_URL of [
      'postgres://me:my%23word%40%2F@localhost/db',
      'postgres://me@/db?host=/run/postgresql',
    ])
      expect(readSettings({ DATABASE_URL }).store.databaseUrl).toBe(DATABASE_URL);
  });

  it.each([
    ['clickhouse://a:hidden@house:8123', 'number 1, that must name one database'],
    [
      'file:/a clickhouse://a:hidden@house/db?tabel=x',
      'number 2, that knows table, cell, insecure behind the "?", and not `tabel`',
    ],
    ['clickhouse://a:hid%den@house/db', 'number 1, that must have %25'],
    ['clickhouse://a:hidden%0A@house/db', 'number 1, that must have no control characters'],
    ['clickhouse:house/db', 'number 1, that must be like clickhouse://'],
    ['file:~/parts', 'number 1, that must name a folder'],
    ['file:/a file:/b/../a', 'names the same target twice'],
    ['clickhouse://a:hidden@house/db clickhouse://b:c@house/db', 'names the same target twice'],
    ['kafka://house', 'must be addresses with spaces'],
  ])('refuse EXPORT=%s, and show no password', (EXPORT, words) => {
    const start = () => readSettings({ EXPORT });
    expect(start).toThrow(words);
    expect(start).not.toThrow('hidden');
  });

  it('that are misspelt are reported, and no others', () => {
    const told = (environment: NodeJS.ProcessEnv) => {
      const lines: string[] = [];
      const say = (line: string) => lines.push(line);
      try {
        readSettings(environment, say);
      } catch {
        // It is reported all the same, and first: the setting that was meant may be what is missing.
      }
      return lines;
    };
    const { SITE_ORIGIN, ...others } = RELAY;
    expect(told({ ...others, SITE_ORIGINS: SITE_ORIGIN, SERVICE_TOKENFILE: '/x' })).toEqual([
      '`SITE_ORIGINS` is no setting: did you mean `SITE_ORIGIN`?',
      '`SERVICE_TOKENFILE` is no setting: did you mean `SERVICE_TOKEN_FILE`?',
    ]);
    expect(told({ POSTGRES_URL: 'x', SLACK_WEBHOOK_URL: 'x', RETENTION: '1' })).toEqual([
      '`POSTGRES_URL` is no setting: did you mean `DATABASE_URL`?',
      '`SLACK_WEBHOOK_URL` is no setting: did you mean `NOTIFY`?',
      '`RETENTION` is no setting: did you mean `RETENTION_DAYS`?',
    ]);
    const usual = { PATH: '/bin', HOME: '/root', HOSTNAME: 'x', PWD: '/', POSTGRES_PORT: '1' };
    expect(told({ ...RELAY, ...usual, SITE_ORIGINS: 'x', LOG_FORMATS: '' })).toEqual([]);
  });

  it('have other names that are no names of ours, and each means one', () => {
    const others = Object.values(OTHER_NAMES).flat();
    expect(new Set([...others, ...NAMES]).size).toBe(others.length + NAMES.length);
  });

  it('may have secrets in files, and the token for the service is read again from there', () => {
    const path = join(tempFolder(), 'token');
    writeFileSync(path, 'tok_1\n');
    const { SERVICE_TOKEN, ...others } = RELAY;
    const environment = { ...others, SERVICE_TOKEN_FILE: path };
    expect(readSettings(environment).service!.token).toBe('tok_1');
    expect(() => readSettings({ ...environment, SERVICE_TOKEN })).toThrow(
      '`SERVICE_TOKEN_FILE`: give one of the two',
    );
    writeFileSync(path, 'tok_2\n');
    expect(readServiceToken(environment)).toBe('tok_2');
    writeFileSync(path, 'tok 3\n');
    expect(() => readServiceToken(environment)).toThrow('`SERVICE_TOKEN` must be ');
    writeFileSync(path, '\n'); // a secret that was not filled in
    for (const name of ['READ_TOKEN', 'DATABASE_URL'])
      expect(() => readSettings({ [`${name}_FILE`]: path }), name).toThrow(
        `wrong settings: \`${name}_FILE\`: the file is empty`,
      );
    expect(() => readSettings({ READ_TOKEN_FILE: `${path}.missing` })).toThrow(
      'wrong settings: `READ_TOKEN_FILE`: ENOENT',
    );
  });

  it('of other words are the few that they need', () => {
    expect(readPlaces({ DATA_FOLDER: '/x' }).store.databaseUrl).toBe('file:/x/rows.db');
    expect(() => readPlaces(NOTHING)).toThrow('`DATA_FOLDER` is `none`');
    expect(() => readSettings({ DATA_FOLDER: 'none' })).toThrow('so it needs `SERVICE_URL`');
    expect(readTailSettings({ READ_TOKEN: 'sixteen-letters-', PORT: 'x' })).toMatchObject({
      ...{ folder: 'analytics-data', readToken: 'sixteen-letters-' },
    });
  });

  it('stand in messages in place of the options that are made of them', () => {
    expect(inSettings('check `baseUrl` and `token`: `retentionDays` is 5, `other` is 6')).toBe(
      'check SERVICE_URL and SERVICE_TOKEN: RETENTION_DAYS is 5, `other` is 6',
    );
  });
});
