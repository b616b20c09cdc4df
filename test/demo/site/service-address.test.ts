import { expect, it } from 'vitest';
import { serviceAddress } from '../../../demo/site/service-address';

it.each([
  ['localhost:8080', 'http://localhost:9'],
  ['127.0.0.1', 'http://127.0.0.1:9'],
  ['[::1]:8080', 'http://[::1]:9'],
  ['demo.example', 'http://demo.example:9'],
  ['a"><script>', undefined],
  ["x; script-src 'unsafe-inline'", undefined],
  ['', undefined],
  [undefined, undefined],
])('makes of host %s the address %s', (host, address) => {
  expect(serviceAddress(host, 9)).toBe(address);
});
