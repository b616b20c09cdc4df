// @vitest-environment happy-dom
// @vitest-environment-options { "url": "https://shop.example/pricing;jsessionid=1A?utm=a" }
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createGtag, takeOverGtag } from '../../src/compat-gtag.js';
import { bodies, outbox, page, PAGE, refused, users } from './bench.js';

// Each row of the page for those who come from there is run as well: `test/migration.test.ts`.
describe('the commands of gtag', () => {
  it('event: an event whose tags are the parameters, and those of `set`', () => {
    const gtag = createGtag(outbox);
    gtag('js', new Date());
    gtag('set', { currency: 'USD' });
    gtag('set', 'country', 'US');
    gtag('event', 'purchase', { currency: 'EUR', items: [{ item_id: 'SKU_1', price: 9.99 }] });
    expect(bodies()).toEqual([
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

  it('user_properties before a user is known wait for one, whoever says who it is', () => {
    const gtag = createGtag(outbox);
    gtag('set', 'user_properties', { plan: 'pro' });
    gtag('set', { user_properties: { seats: 1 } });
    gtag('event', 'A', { user_properties: { plan: 'free' } });
    gtag('config', 'G-TAG', { user_id: 'u1', send_page_view: false });
    gtag('set', { user_id: null });
    gtag('set', 'user_properties', { plan: 'none' });
    outbox.identify('u2'); // by the page itself
    gtag('event', 'B');
    gtag('event', 'C');
    gtag('set', 'user_properties', { plan: 'of nobody' });
    gtag('set', { user_id: null });
    gtag('config', 'G-TAG', { user_id: 'u3', send_page_view: false });
    expect(users()).toEqual([
      ['u1', { plan: 'free', seats: 1 }],
      ['u2', {}],
      ['u2', { plan: 'none' }],
      ['u2', { plan: 'of nobody' }],
      ['u3', {}],
    ]);
    expect(outbox.drops()).toEqual([]);
  });

  it.each(['page_location', 'page_path'])('takes the path from `%s`, which masks ids', (key) => {
    const gtag = createGtag(outbox);
    gtag('set', {
      [key]: '/users/:id?q=secret',
      page_title: 'A user',
      page_referrer: 'https://a.example/?q=secret',
    });
    gtag('config', 'G-TAG');
    gtag('event', 'A');
    const masked = { path: '/users/:id', title: 'A user', referrer: 'https://a.example/' };
    expect(bodies()).toEqual([
      ['Page Viewed', masked],
      ['A', masked],
    ]);
  });

  it('get: tells of it, and calls back with nothing', async () => {
    const given = await new Promise((callback) =>
      createGtag(outbox)('get', 'G-TAG', 'client_id', callback),
    );
    expect(given).toBeUndefined();
    expect(outbox.drops()).toEqual(refused('get'));
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
});

describe('taking over the data layer', () => {
  type Push = (...args: unknown[]) => void;
  const layer = () => page['dataLayer'] as unknown[];

  it('takes what was pushed, in order, and what comes, and leaves the list to others', () => {
    page['dataLayer'] = [];
    // As Google's own.
    const gtag: Push = function () {
      layer().push(arguments);
    };
    gtag('config', 'G-TAG', { send_page_view: false });
    gtag('event', 'login', { method: 'Google' });
    layer().push({ event: 'gtm.js', 'gtm.start': 1 }, { pageType: 'home' }, null);
    page['gtag'] = gtag;
    takeOverGtag(outbox);
    gtag('event', 'search', { search_term: 't-shirts' });
    layer().push({ event: 'add_to_cart', ecommerce: { value: 5 } });
    expect(bodies()).toEqual([
      ['login', { method: 'Google' }],
      ['search', { search_term: 't-shirts' }],
      ['add_to_cart', { ecommerce: { value: 5 } }],
    ]);
    expect(layer()).toHaveLength(7);
  });

  it('calls `eventCallback` of what is pushed, and of what was', async () => {
    const push = (event: string) =>
      new Promise((eventCallback) => layer().push({ event, eventCallback, eventTimeout: 2_000 }));
    page['dataLayer'] = [];
    const before = push('A');
    const gtag = takeOverGtag(outbox);
    await Promise.all([before, push('B')]);
    await new Promise((event_callback) =>
      gtag('event', 'C', { event_callback, event_timeout: 2_000 }),
    );
    expect(bodies()).toEqual([
      ['A', {}],
      ['B', {}],
      ['C', {}],
    ]);
  });

  it('makes each command once if it is taken over twice, as by hot reload', () => {
    page['dataLayer'] = [['event', 'A']];
    const gtag = takeOverGtag(outbox);
    expect(takeOverGtag(outbox)).toBe(gtag);
    (page['gtag'] as Push)('event', 'B');
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
    page['dataLayer'] = [['consent', 'default', { analytics_storage: 'denied', region: ['DE'] }]];
    follow();
    const consent = (kind: string, analytics_storage: string) => {
      layer().push(['consent', kind, { analytics_storage }]);
      return outbox.status().consent;
    };
    expect(consent('default', 'granted')).toBe('pending');
    expect(consent('update', 'denied')).toBe('denied');
    expect(consent('default', 'granted')).toBe('denied');
    expect(consent('default', 'denied')).toBe('denied');
    expect(consent('update', 'granted')).toBe('granted');
    expect(consent('default', 'denied')).toBe('pending');
  });

  it('makes the list where there is none', () => {
    takeOverGtag(outbox);
    (page['gtag'] as Push)('event', 'A', { a: 1 });
    // Google's script takes the arguments of a function for a command, and no list.
    expect(layer().map((item) => Array.from(item as never))).toEqual([['event', 'A', { a: 1 }]]);
    expect(layer().some(Array.isArray)).toBe(false);
  });
});
