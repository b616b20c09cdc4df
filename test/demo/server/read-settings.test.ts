import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { readSettings } from '../../../demo/server/read-settings';

test('has a default for everything', () => {
  expect(readSettings({})).toEqual({
    port: 8787,
    nextFree: true,
    host: undefined,
    database: resolve('demo/data/service.db'),
    tokens: ['demo-token'],
    faults: false,
    ignoreKeys: false,
  });
});

test('takes an empty variable as not given', () => {
  const env = { PORT: '', HOST: '', DATABASE: '', TOKEN: '', FAULTS: '', IGNORE_KEYS: '' };
  expect(readSettings(env)).toEqual(readSettings({}));
});

test('reads each variable', () => {
  const env = {
    ...{ PORT: '9000', HOST: '::1', DATABASE: 'x/y.db', TOKEN: 'secret' },
    ...{ FAULTS: '1', IGNORE_KEYS: '1' },
  };
  expect(readSettings(env)).toEqual({
    port: 9000,
    nextFree: false,
    host: '::1',
    database: resolve('x/y.db'),
    tokens: ['secret'],
    faults: true,
    ignoreKeys: true,
  });
});

test.each(['x', '-1', '65536', '80 ', '1e3'])('refuses %j as PORT in words', (PORT) => {
  expect(() => readSettings({ PORT })).toThrow('PORT must be a number from 0 to 65535');
});
