import { describe, expect, it } from 'vitest';
import { isFromAllowedPage, isOrigin, type Origins } from '../../../src/server/http/origin.js';

const listed = 'https://shop.example';
const isAllowed = (headers: Record<string, string>, origins: Origins = [listed]) =>
  isFromAllowedPage(new Request('https://relay.example/v1/batch', { headers }), origins);

describe('a request', () => {
  it.each([
    [{ origin: listed }],
    [{ origin: listed, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' }],
    [{ origin: listed, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'no-cors' }],
    [{ origin: 'null', 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'no-cors' }],
    [{ 'sec-fetch-site': 'same-origin' }],
  ])('passes with %j', (headers) => {
    expect(isAllowed(headers)).toBe(true);
  });

  it.each([
    [{}],
    [{ origin: 'https://evil.example' }],
    [{ origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' }],
    [{ origin: 'http://shop.example' }],
    [{ origin: 'https://shop.example:8443' }],
    [{ origin: 'https://shop.example.evil.example' }],
    [{ origin: 'https://SHOP.example' }],
    [{ origin: 'null' }],
    [{ origin: 'null', 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'none' }],
    [{ origin: listed, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate' }],
  ])('is refused with %j', (headers) => {
    expect(isAllowed(headers)).toBe(false);
  });
});

describe('the subdomains of a listed domain', () => {
  const origins = ['https://*.shop.example', 'http://*.blog.example:8080'];
  it.each([
    'https://www.shop.example',
    'https://a.b.shop.example',
    'https://xn--bcher-kva.shop.example',
    'http://www.blog.example:8080',
  ])('may send: %s', (origin) => {
    expect(isAllowed({ origin }, origins)).toBe(true);
  });

  it.each([
    'https://shop.example',
    'https://.shop.example',
    'https://*.shop.example',
    'http://www.shop.example',
    'https://www.shop.example:8443',
    'https://evilshop.example',
    'https://www.shop.example.evil.example',
    'https://evil.example/.shop.example',
    'https://evil.example?.shop.example',
    'https://evil.example\\.shop.example',
    'https://evil.example:443@www.shop.example',
    'https://WWW.shop.example',
    'http://www.blog.example',
    'null',
  ])('are not %s', (origin) => {
    expect(isAllowed({ origin }, origins)).toBe(false);
  });
});

describe('a relay on the site itself', () => {
  const isAllowedThere = (headers: Record<string, string>) =>
    isFromAllowedPage(new Request('http://shop.example/a/v1/batch', { headers }), [listed]);

  it('refuses what a browser calls cross-site, though its origin is listed, and nothing else', () => {
    expect(isAllowedThere({ origin: listed, 'sec-fetch-site': 'cross-site' })).toBe(false);
    for (const origin of [listed, 'null'])
      expect(isAllowedThere({ origin, 'sec-fetch-site': 'same-origin' })).toBe(true);
    expect(isAllowedThere({ origin: listed })).toBe(true);
  });
});

describe('an origin', () => {
  it.each([
    'https://shop.example',
    'http://localhost:5173',
    'capacitor://localhost',
    'ionic://localhost',
    'tauri://localhost',
    'app://-',
    'chrome-extension://aapbdbdomjkkjkaonfhkkikfgjllcleb',
    'moz-extension://1bc0b5b9-7b46-4b9c-8e5a-3a5c1d2e9f10',
  ])('may be %s', (origin) => {
    expect(isOrigin(origin)).toBe(true);
    const request = new Request('https://relay.example/v1/batch', { headers: { origin } });
    expect(isFromAllowedPage(request, [origin])).toBe(true);
  });

  it.each([
    ...['null', '', '*', 'shop.example', 'https://shop.example/', 'https://shop.example/a'],
    ...['https://SHOP.example', 'https://shop.example:443', 'https://u@shop.example'],
    ...['app://-/', 'app://', 'Capacitor://localhost', 'tauri://localhost?x', 'file:///'],
    // Subdomains of nobody in particular, and a `*` anywhere else.
    ...['https://*', 'https://*.com', 'https://*.example', 'https://*.localhost', 'https://*.'],
    ...['https://*.co.uk', 'https://*.com.au', 'https://*.org.nz', 'https://*.ac.jp'],
    ...['https://*.10.0.0.1', 'https://*.[::1]', 'https://*.shop.example.', 'https://*.*.example'],
    ...['https://shop.*', 'https://www.*.example', 'https://w*.shop.example', '*.shop.example'],
    ...['*://www.shop.example', 'https://shop.example:*', 'https://*.shop.example/'],
    ...['https://*.SHOP.example', 'https://*.shop.example:443', 'app://*.shop.example'],
  ])('may not be %j', (origin) => {
    expect(isOrigin(origin)).toBe(false);
  });

  it.each([
    ...['https://*.shop.example', 'http://*.shop.example:8080', 'https://*.shop.co.uk'],
    ...['https://*.bmw.de', 'https://*.x.com', 'https://*.a.b.shop.example'],
  ])('may have the subdomains %s in its place', (origin) => {
    expect(isOrigin(origin)).toBe(true);
  });

  it('is none where the function that decides is async, which types do not allow', () => {
    const origins = (async () => true) as never;
    expect(isAllowed({ origin: 'https://evil.example' }, origins)).toBe(false);
  });

  it('is never null, not even where a function decides', () => {
    expect(isAllowed({ origin: 'null' }, () => true)).toBe(false);
  });
});
