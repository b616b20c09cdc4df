import { expect, it } from 'vitest';
import { httpUrl } from '../../../demo/server/http-url.js';

it.each([
  ['127.0.0.1', 'http://127.0.0.1:80'],
  ['localhost', 'http://localhost:80'],
  ['::1', 'http://[::1]:80'],
])('the address of %s is %s', (host, url) => {
  expect(httpUrl(host, 80)).toBe(url);
});
