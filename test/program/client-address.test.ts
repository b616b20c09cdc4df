import { expect, it } from 'vitest';
import { createClientAddress, type TrustedProxies } from '../../src/program/client-address.js';

const setUp = (header?: string, trusted?: TrustedProxies) => {
  const warnings: string[] = [];
  const client = createClientAddress({ header, trusted, warn: (words) => warnings.push(words) });
  return {
    warnings,
    of: (headers: Record<string, string>, peer = '10.0.0.1', method = 'POST') => {
      const request = new Request('http://relay.example/v1/batch', { method, headers });
      client.note(request, peer);
      return client.of(request);
    },
  };
};
const xff = (value: string) => ({ 'x-forwarded-for': value });

it('is the other end of the connection, whatever headers say', () => {
  expect(setUp().of(xff('192.0.2.1'))).toBe('10.0.0.1');
});

it.each([
  [1, '198.51.100.7'],
  [2, '192.0.2.1'],
  [3, '203.0.113.9'],
  [9, '203.0.113.9'],
])('counts %i hops from the right', (hops, address) => {
  const { of } = setUp(undefined, hops);
  expect(of(xff('203.0.113.9, 192.0.2.1, 198.51.100.7'))).toBe(address);
});

it('walks past networks that are trusted, to the first that is not', () => {
  const { of } = setUp(undefined, ['10.0.0.0/8', '198.51.100.0/24', '2001:db8:a::/48', '::1']);
  expect(of(xff('203.0.113.9, 192.0.2.1, 198.51.100.7'))).toBe('192.0.2.1');
  expect(of(xff('203.0.113.9, 2001:db8:b::1, [2001:db8:a::7]:443'))).toBe('2001:db8:b::1');
  expect(of(xff('198.51.100.8, 10.1.2.3'))).toBe('198.51.100.8');
  expect(of(xff('192.0.2.1'), '::1')).toBe('192.0.2.1');
  expect(of(xff('192.0.2.1'), '::ffff:10.0.0.1')).toBe('192.0.2.1');
});

it('does not believe what comes past the proxies', () => {
  const { of } = setUp('x-real-ip', ['10.0.0.0/8']);
  expect(of({ 'x-real-ip': '203.0.113.9' }, '192.0.2.66')).toBe('192.0.2.66');
  expect(of({ 'x-real-ip': '203.0.113.9' })).toBe('203.0.113.9');
});

it.each(['192.0.2.1:5678', '198.51.100.7, 192.0.2.1'])(
  'reads the last of a header, such as that of a CDN: a proxy writes behind what a client has sent (%s)',
  (value) => {
    expect(setUp('CF-Connecting-IP').of({ 'cf-connecting-ip': value })).toBe('192.0.2.1');
  },
);

it.each([
  ['for=192.0.2.1;proto=https;host=shop.example', '192.0.2.1'],
  ['for=203.0.113.9, For="[2001:db8::1]:4711";by=10.0.0.1', '2001:db8::1'],
  ['by=10.0.0.1;for="192.0.2.1:80"', '192.0.2.1'],
  ['for=_hidden', '10.0.0.1'],
  ['for=unknown;proto=https', '10.0.0.1'],
  ['nonsense', '10.0.0.1'],
])('reads Forwarded: %s', (value, address) => {
  expect(setUp('forwarded').of({ forwarded: value })).toBe(address);
});

it.each(['a-new-word-each-time', '1.2.3.4.5', '', '192.0.2.1 evil'])(
  'takes no word for a client: %j',
  (value) => {
    expect(setUp('x-real-ip').of({ 'x-real-ip': value })).toBe('10.0.0.1');
  },
);

it('warns once where many requests in a row come through a proxy that no setting names', () => {
  const { of, warnings } = setUp();
  for (let n = 0; n < 19; n++) of(xff('192.0.2.1'));
  of({});
  for (let n = 0; n < 19; n++) of(xff('192.0.2.1'));
  expect(warnings).toEqual([]);
  for (let n = 0; n < 40; n++) of(xff('192.0.2.1'));
  expect(warnings).toEqual([expect.stringContaining('Set TRUSTED_PROXIES')]);
});

it('warns once where the header that is set never comes, but not of who asks for its health', () => {
  const { of, warnings } = setUp('x-real-ip');
  for (let n = 0; n < 40; n++) of({}, '10.0.0.1', 'GET');
  expect(warnings).toEqual([]);
  for (let n = 0; n < 40; n++) of({});
  expect(warnings).toEqual([
    '20 requests in a row have no header x-real-ip: their clients are told apart by the connection alone',
  ]);
});
