import { afterEach, describe, expect, it, vi } from 'vitest';
import { isOwnOrigin, pageAddress } from '../../../src/client/browser/page-address.js';

afterEach(() => {
  vi.unstubAllGlobals();
});

const be = (href: string, origin: unknown, baseURI: string) => {
  vi.stubGlobal('location', { href });
  vi.stubGlobal('origin', origin);
  vi.stubGlobal('document', { baseURI });
};

const BASE = 'https://cdn.test/base/';

describe('the address of a page', () => {
  it.each([
    ['its own, whatever <base> it has', 'https://shop.test/a?b#c', 'https://shop.test'],
    ['its own, whatever the page calls `origin`', 'https://shop.test/a', { city: 'Turin' }],
  ])('is %s', (_, href, origin) => {
    be(href, origin, BASE);
    expect(pageAddress()).toBe(href);
  });

  it.each(['about:blank', 'about:srcdoc', 'blob:https://shop.test/1-2'])(
    "of %s is its maker's origin",
    (href) => {
      be(href, 'https://shop.test', BASE);
      expect(pageAddress()).toBe('https://shop.test');
    },
  );

  it('of a sandboxed frame without one is the base of its maker', () => {
    be('about:srcdoc', 'null', 'https://shop.test/page');
    expect(pageAddress()).toBe('https://shop.test/page');
  });

  it('is empty where there is none', () => {
    be('file:///page.html', 'null', 'file:///page.html');
    expect(pageAddress()).toBe('');
  });
});

describe('the own origin', () => {
  it.each([
    ['https://shop.test/a', true],
    ['HTTPS://Shop.test:443/a', true],
    ['http://shop.test/a', false],
    ['https://shop.test:8443/a', false],
    ['https://shop.test.evil/a', false],
    ['https://api.shop.test/a', false],
    ['', false],
  ])('of https://shop.test: %j is %s', (address, isOwn) => {
    be('https://shop.test/page', 'https://shop.test', BASE);
    expect(isOwnOrigin(address)).toBe(isOwn);
  });

  it('is nothing where the page has none', () => {
    be('file:///page.html', 'null', 'file:///page.html');
    expect(isOwnOrigin('https://shop.test/a')).toBe(false);
  });
});
