import { afterEach, expect, it, vi } from 'vitest';
import { unlock } from '../../../src/server/rows/page/state/service.js';

afterEach(() => vi.unstubAllGlobals());

it.each([
  ['nothing wrong with the right token', { type: 'opaqueredirect', status: 0 }, undefined],
  ['a wrong token', { status: 401 }, 'The service does not know this token.'],
  ['a proxy in trouble', { status: 502 }, 'The service answered 502. Try again.'],
  ['no answer', undefined, 'The service does not answer. Try again.'],
])('tells of %s', async (_, response, words) => {
  vi.stubGlobal('fetch', async () => response ?? Promise.reject(new TypeError('offline')));
  expect(await unlock('a token')).toBe(words);
});
