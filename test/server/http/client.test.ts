import { expect, it } from 'vitest';
import {
  blockOf,
  clientKeyOf,
  createOpaqueWord,
  networkOf,
  truncateAddress,
} from '../../../src/server/http/client.js';

it.each<[key: string, ...addresses: string[]]>([
  [
    '2001:db8:1:2::/64',
    ...['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', ' 2001:db8:1:2::1 '],
    ...['2001:0DB8:0001:0002:0000:0000:0000:0005', '2001:db8:1:2::1%eth0'],
    ...['[2001:db8:1:2::7]', '[2001:db8:1:2::7]:443', '2001:db8:1:2::192.0.2.1'],
  ],
  [
    '192.0.2.1',
    ...['192.0.2.1', '192.0.2.1:5678', '::ffff:192.0.2.1', '::FFFF:c000:0201'],
    ...['0:0:0:0:0:ffff:192.0.2.1', '0000:0000:0000:0000:0000:ffff:c000:201'],
    '[::ffff:192.0.2.1]:443',
  ],
  ['2001:db8:1:3::/64', '2001:db8:1:3::1'],
  ['2001:db8:0:0::/64', '2001:db8::1'],
  ['0:0:0:0::/64', '::1'],
  ['192.0.2.2', '192.0.2.2'],
  // No address is taken as it is.
  ...['session-1', '192.0.2.999', '192.0.2.1, 198.51.100.7', '::1]/x[', 'fe80::1::2'].map(
    (word): [string, string] => [word, word],
  ),
])('counts as %s: %s', (key, ...addresses) => {
  for (const address of addresses) expect(clientKeyOf(address), address).toBe(key);
});

it('bounds what a client may have written', () => {
  expect(clientKeyOf('x'.repeat(10_000))).toHaveLength(128);
});

it.each([undefined, null, ''])('has none for %s', (address) => {
  expect(clientKeyOf(address)).toBe('');
});

it.each([[['192.0.2.1']], [{ address: '192.0.2.1' }], [7]])('refuses %j in words', (address) => {
  expect(() => clientKeyOf(address)).toThrow('must give a string');
});

const NO_ADDRESSES = [
  ...['', 'unknown', '192.0.2', '192.0.2.256', '192.0.2.7, 198.51.100.1', '2001:db8::1::2'],
  ...['1.2.3.4\r\nx-evil: 1', '12345::', 'a.example'],
];

it.each<[address: string, kept: string | undefined]>([
  ['192.0.2.77', '192.0.2.0'],
  ['::ffff:192.0.2.77', '192.0.2.0'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1::'],
  ['2001:DB8::1', '2001:db8:0::'],
  ['::1', '0:0:0::'],
  ['fe80::1%eth0', 'fe80:0:0::'],
  ['[2001:db8::1]:443', '2001:db8:0::'],
  ['::ffff:c000:24d', '192.0.2.0'],
  ['2001:0db8:0:0:1::5', '2001:db8:0::'],
  ...NO_ADDRESSES.map((word): [string, undefined] => [word, undefined]),
])('keeps of %j only %s', (address, kept) => {
  expect(truncateAddress(address)).toBe(kept);
});

it.each([
  ['2001:db8:1:2::/64', '2001:db8:1::/48', '2001:db8::/32'],
  ['2001:db8:0:0::/64', '2001:db8:0::/48', '2001:db8::/32'],
  ['192.0.2.1', '192.0.2.0/24', undefined],
  ['session-1', 'session-1', undefined],
  ['', '', undefined],
])('finds the networks of %s: %s and %s', (key, network, block) => {
  expect(networkOf(key)).toBe(network);
  expect(blockOf(network)).toBe(block);
});

it('makes a word that is the same in each process with the secret, and shows no address', async () => {
  const [one, same, other] = [createOpaqueWord('s'), createOpaqueWord('s'), createOpaqueWord('t')];
  const word = await one('192.0.2.1');
  expect(word).toMatch(/^[\da-f]{12}$/);
  expect(await same('192.0.2.1')).toBe(word);
  const others = [one('192.0.2.2'), other('192.0.2.1'), createOpaqueWord()('192.0.2.1')];
  expect(new Set([word, ...(await Promise.all(others))]).size).toBe(4);
  expect(await one('')).toBe('');
});
