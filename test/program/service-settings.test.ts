import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readServiceSettings, serviceSettingLines } from '../../src/program/service-settings.js';
import { withoutPassword } from '../../src/program/service-store.js';
import { read } from '../support/docs.js';
import { tempFolder } from '../support/temp-folder.js';

it('needs no setting: this machine alone, any project, a file in a folder of its own', () => {
  expect(readServiceSettings({})).toMatchObject({
    folder: 'analytics-data',
    databaseUrl: undefined,
    origins: undefined,
    projects: '*',
    channels: '*',
    host: '127.0.0.1',
    port: undefined,
    readToken: undefined,
    writeTokens: undefined,
  });
});

it('reads tokens by project', () => {
  const { writeTokens } = readServiceSettings({ WRITE_TOKENS: 'shop=a=b, blog=c,news=c,*=d' });
  expect(writeTokens).toEqual([
    { token: 'a=b', projects: ['shop'] },
    { token: 'c', projects: ['blog', 'news'] },
    { token: 'd', projects: '*' },
  ]);
});

it('reads secrets from files', () => {
  const path = join(tempFolder(), 'token');
  writeFileSync(path, 'tok_read_of_16_signs\n');
  expect(readServiceSettings({ READ_TOKEN_FILE: path }).readToken).toBe('tok_read_of_16_signs');
  expect(() => readServiceSettings({ READ_TOKEN_FILE: `${path}.missing` })).toThrow(
    'wrong settings: `READ_TOKEN_FILE`: ENOENT',
  );
  writeFileSync(path, '\n'); // a secret that was not filled in is no wish for none
  for (const name of ['READ_TOKEN', 'DATABASE_URL'])
    expect(() => readServiceSettings({ [`${name}_FILE`]: path }), name).toThrow(
      `wrong settings: \`${name}_FILE\`: the file is empty`,
    );
});

it('names each wrong setting and what to write', () => {
  const wrong = {
    SITE_ORIGIN: 'shop.example',
    WRITE_TOKENS: 'tok_1',
    DATABASE_URL: 'mysql://localhost',
    RETENTION_DAYS: 'ten',
    PORT: '99999',
  };
  for (const [name, value] of Object.entries(wrong)) {
    expect(() => readServiceSettings({ [name]: value }), name).toThrow(`\`${name}\` must be `);
  }
  expect(() => readServiceSettings({ PORT: '99999' })).toThrow(
    'wrong settings: option `PORT` must be a port number, not "99999"',
  );
});

it('tells of a setting that is misspelt', () => {
  const told: string[] = [];
  readServiceSettings({ READ_TOKENS: 'secret', DATABASE_URL_FILES: '' }, (line) => told.push(line));
  expect(told).toEqual(['`READ_TOKENS` is no setting: did you mean `READ_TOKEN`?']);
});

it('takes the settings of the compose file', () => {
  const [, block = ''] = read('compose.yaml').split(/^  service:$/m);
  const pairs = [...block.matchAll(/^ {6}([A-Z_]+): '?(.*?)'?$/gm)].map(([, ...pair]) => pair);
  const settings = Object.fromEntries(
    pairs.slice(
      0,
      pairs.findIndex(([name]) => name === 'POSTGRES_PASSWORD'),
    ),
  );
  expect(readServiceSettings(settings)).toMatchObject({ projects: ['shop'], port: 8_787 });
});

it('refuses a read token that is short, or that pages know', () => {
  expect(() => readServiceSettings({ READ_TOKEN: 'fifteen-letters' })).toThrow(
    '`READ_TOKEN` must be a token of 16 characters or more',
  );
  const token = 'token-of-16-signs';
  const both = { READ_TOKEN: token, WRITE_TOKENS: `a=tok,b=${token}` };
  expect(() => readServiceSettings(both)).toThrow('`READ_TOKEN` must be another than');
  expect(() => readServiceSettings(both)).toThrow(/^(?!.*token-of)/s);
});

it.each([
  ['shop=tok_1,blog=tok_2', 'shop', false],
  ['shop=tok_1', 'shop,blog', true],
  ['shop=tok_1', '*', true],
  ['*=tok_1', 'shop', true],
])('takes the tokens %s with the projects %s: %s', (WRITE_TOKENS, PROJECTS, isFine) => {
  const reading = () => readServiceSettings({ WRITE_TOKENS, PROJECTS });
  if (isFine) expect(reading).not.toThrow();
  else expect(reading).toThrow('has a token for a project that `PROJECTS` (shop) does not list');
});

it('never shows a secret', () => {
  const wrong = { WRITE_TOKENS: 'secret token', READ_TOKEN: 'secret token' };
  expect(() => readServiceSettings(wrong)).toThrow(/^(?!.*secret)/s);
});

it.each([
  ['postgres://user:secret@db.example:5432/rows', 'postgres://db.example:5432/rows'],
  ['postgres://user:secret@secret@db.example/rows', 'postgres://db.example/rows'],
  ['postgres://user:secret/secret@db.example/rows', 'postgres://…'],
  ['postgresql:///rows?host=/run&password=secret@secret', 'postgresql:///rows'],
  ['rediss://:secret@redis.example', 'rediss://redis.example'],
  ['file:/data/me@home/rows.db', 'file:/data/me@home/rows.db'],
])('writes %s as %s', (url, written) => {
  expect(withoutPassword(url)).toBe(written);
});

it('has a line of help for each setting', () => {
  const lines = serviceSettingLines();
  expect(lines.map((line) => /^ {2}(\w+) +\S/.exec(line)?.[1])).toEqual(
    expect.arrayContaining(['SITE_ORIGIN', 'WRITE_TOKENS', 'DATABASE_URL', 'RETENTION_DAYS']),
  );
});
