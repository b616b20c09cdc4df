import { expect, it } from 'vitest';
import { truncateAddress } from '../../../src/relay/front/truncate-address.js';

it.each([
  ['192.0.2.77', '192.0.2.0'],
  ['::ffff:192.0.2.77', '192.0.2.0'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1::'],
  ['2001:DB8::1', '2001:db8:0::'],
  ['::1', '0:0:0::'],
  ['fe80::1%eth0', 'fe80:0:0::'],
  ['[2001:db8::1]:443', '2001:db8:0::'],
  ['::ffff:c000:24d', '192.0.2.0'],
  ['2001:0db8:0:0:1::5', '2001:db8:0::'],
])('keeps of %s only %s', (address, kept) => {
  expect(truncateAddress(address)).toBe(kept);
});

it.each([
  '',
  'unknown',
  '192.0.2',
  '192.0.2.256',
  '192.0.2.7, 198.51.100.1',
  '2001:db8::1::2',
  '1.2.3.4\r\nx-evil: 1',
  '12345::',
  'a.example',
])('leaves out "%s"', (address) => {
  expect(truncateAddress(address)).toBeUndefined();
});
