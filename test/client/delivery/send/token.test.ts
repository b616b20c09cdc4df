import { expect, it } from 'vitest';
import { createToken } from '../../../../src/client/delivery/send/token.js';
import type { Settings } from '../../../../src/client/options.js';

const ways: [way: string, former: () => Promise<string>][] = [
  ['gives a token', () => Promise.resolve('old')],
  ['fails', () => Promise.reject(new Error('no session'))],
];

it.each(ways)('ignores a function that %s after another has replaced it', async (_, former) => {
  const settings = { token: former as () => string | Promise<string>, timeout: 1_000 };
  const token = createToken(() => settings as Settings);
  const asked = token.ask();
  settings.token = () => 'new';
  expect(await asked).toBeUndefined();
  expect(token.current()).toBe('');
  expect(await token.ask()).toBeUndefined();
  expect(token.current()).toBe('new');
});
