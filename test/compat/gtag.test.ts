// @vitest-environment happy-dom
// @vitest-environment-options { "url": "https://shop.example/pricing;jsessionid=1A?utm=a" }
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createGtag, takeOverGtag } from '../../src/compat-gtag.js';
import { createAnalytics } from '../../src/testing.js';

const outbox = createAnalytics();
const bodies = () => outbox.events().map(({ event, tags }) => [event, tags]);
const users = () => outbox.identifies().map(({ user_id, properties }) => [user_id, properties]);
const PAGE = { path: '/pricing', title: 'Pricing', referrer: '' };

beforeEach(() => {
  outbox.init({ relay: '/a', project: 'p', channel: 'c' });
  outbox.clear();
  document.title = 'Pricing';
});
afterEach(() => outbox.stop());

describe('the commands of gtag', () => {
  it('event: an event whose tags are the parameters, and those of `set`', () => {
    const gtag = createGtag(outbox);
    gtag('js', new Date());
    gtag('event', 'login', { method: 'Google' });
    gtag('set', { currency: 'USD' });
    gtag('set', 'country', 'US');
    gtag('event', 'purchase', { currency: 'EUR', items: [{ item_id: 'SKU_1', price: 9.99 }] });
    expect(bodies()).toEqual([
      ['login', { method: 'Google' }],
      ['purchase', { currency: 'EUR', country: 'US', items: [{ item_id: 'SKU_1', price: 9.99 }] }],
    ]);
  });

  it('config: a page view, unless it is not wanted or the product is another', () => {
    const gtag = createGtag(outbox);
    gtag('config', 'G-TAG');
    gtag('config', 'G-TAG', { send_page_view: false });
    gtag('config', 'AW-ADS');
    gtag('event', 'page_view', { page_location: 'https://shop.example/cart?q=secret' });
    expect(bodies()).toEqual([
      ['Page Viewed', PAGE],
      ['Page Viewed', { ...PAGE, path: '/cart' }],
    ]);
  });

  it('user_id and user_properties: the user', () => {
    const gtag = createGtag(outbox);
    gtag('config', 'G-TAG', { user_id: 'u1', send_page_view: false });
    gtag('set', 'user_properties', { plan: 'pro' });
    gtag('event', 'A');
    gtag('set', { user_id: null });
    gtag('event', 'B');
    expect(users()).toEqual([
      ['u1', {}],
      ['u1', { plan: 'pro' }],
    ]);
    expect(outbox.events().map(({ user_id }) => user_id)).toEqual(['u1', undefined]);
  });

  it('consent: what is denied by default is waited for', () => {
    const gtag = createGtag(outbox);
    gtag('consent', 'default', { ad_storage: 'denied', analytics_storage: 'denied' });
    gtag('event', 'A');
    expect(outbox.status().consent).toBe('pending');
    expect(bodies()).toEqual([]);
    gtag('consent', 'update', { analytics_storage: 'granted' });
    expect(bodies()).toEqual([['A', {}]]);
    gtag('consent', 'update', { ad_storage: 'denied' });
    expect(outbox.status().consent).toBe('granted');
    gtag('consent', 'update', { analytics_storage: 'denied' });
    expect(outbox.status().consent).toBe('denied');
  });

  it('event_callback: called, so that a page which waits for it goes on', async () => {
    const callback = vi.fn();
    createGtag(outbox)('event', 'A', { event_callback: callback });
    await vi.waitFor(() => expect(callback).toHaveBeenCalledOnce());
    expect(bodies()).toEqual([['A', {}]]);
  });

  it('refuses any other in words', () => {
    createGtag(outbox)('get', 'G-TAG', 'client_id', () => undefined);
    expect(outbox.drops()).toMatchObject([
      { reason: 'not-supported', message: 'get has no counterpart' },
    ]);
  });
});

describe('taking over the data layer', () => {
  const page = globalThis as unknown as {
    dataLayer?: unknown[];
    gtag?: (...args: unknown[]) => void;
  };
  afterEach(() => {
    delete page.dataLayer;
    delete page.gtag;
  });

  it('takes what was pushed, in order, and what comes, and leaves the list to others', () => {
    page.dataLayer = [];
    // As Google's own.
    page.gtag = function () {
      page.dataLayer!.push(arguments);
    };
    page.gtag('config', 'G-TAG', { send_page_view: false });
    page.gtag('event', 'login', { method: 'Google' });
    page.dataLayer.push({ event: 'gtm.js', 'gtm.start': 1 }, { pageType: 'home' }, null);
    takeOverGtag(outbox);
    page.gtag('event', 'search', { search_term: 't-shirts' });
    page.dataLayer.push({ event: 'add_to_cart', ecommerce: { value: 5 } });
    expect(bodies()).toEqual([
      ['login', { method: 'Google' }],
      ['search', { search_term: 't-shirts' }],
      ['add_to_cart', { ecommerce: { value: 5 } }],
    ]);
    expect(page.dataLayer).toHaveLength(7);
  });

  it('makes each command once if it is taken over twice, as by hot reload', () => {
    page.dataLayer = [['event', 'A']];
    const gtag = takeOverGtag(outbox);
    expect(takeOverGtag(outbox)).toBe(gtag);
    page.gtag!('event', 'B');
    expect(bodies()).toEqual([
      ['A', {}],
      ['B', {}],
    ]);
  });

  it.each([
    ['the adapter', () => takeOverGtag(outbox)],
    [
      'the recipe',
      () => {
        const [, recipe] = /Google's Consent Mode[^]*?```js([^]*?)```/.exec(
          readFileSync('docs/consent.md', 'utf8'),
        )!;
        new Function('window', 'analytics', recipe!)(page, outbox);
      },
    ],
  ])('%s: a default takes back neither a denial nor another default', (_, follow) => {
    page.dataLayer = [['consent', 'default', { analytics_storage: 'denied', region: ['DE'] }]];
    follow();
    const consent = (kind: string, analytics_storage: string) => {
      page.dataLayer!.push(['consent', kind, { analytics_storage }]);
      return outbox.status().consent;
    };
    expect(consent('default', 'granted')).toBe('pending');
    expect(consent('update', 'denied')).toBe('denied');
    expect(consent('default', 'granted')).toBe('denied');
    expect(consent('default', 'denied')).toBe('denied');
    expect(consent('update', 'granted')).toBe('granted');
    expect(consent('default', 'denied')).toBe('pending');
  });

  it('makes list and function where there are none', () => {
    takeOverGtag(outbox);
    page.gtag!('event', 'A', { a: 1 });
    expect(bodies()).toEqual([['A', { a: 1 }]]);
    expect([...page.dataLayer!]).toEqual([{ 0: 'event', 1: 'A', 2: { a: 1 }, length: 3 }]);
  });
});
