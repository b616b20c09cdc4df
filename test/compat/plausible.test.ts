// @vitest-environment happy-dom
// @vitest-environment-options { "url": "https://shop.example/pricing;jsessionid=1A?utm=a" }
import { describe, expect, it } from 'vitest';
import { createPlausible, takeOverPlausible } from '../../src/compat-plausible.js';
import { createAnalytics } from '../../src/testing.js';
import { bodies, outbox, page, PAGE } from './bench.js';

// Each row of the page for those who come from there is run as well: `test/migration.test.ts`.
describe('the function of Plausible', () => {
  it('takes a page view for the address that it is given, with the props', () => {
    createPlausible(outbox)('pageview', {
      url: 'https://shop.example/docs?q=secret',
      props: { author: 'A' },
    });
    expect(bodies()).toEqual([['Page Viewed', { ...PAGE, path: '/docs', author: 'A' }]]);
  });

  it.each(['u', 'url'])('takes the path of an event from `%s`, which masks ids', (key) => {
    const plausible = createPlausible(outbox);
    plausible('pageview', { [key]: 'https://shop.example/users/:id?q=secret' });
    plausible('Signup', { [key]: 'https://shop.example/users/:id', props: { plan: 'pro' } });
    plausible('pageview', { url: '/real', u: '/:id' });
    expect(bodies()).toEqual([
      ['Page Viewed', { ...PAGE, path: '/users/:id' }],
      ['Signup', { path: '/users/:id', plan: 'pro' }],
      ['Page Viewed', { ...PAGE, path: '/:id' }],
    ]);
  });

  it('lets `transformRequest` of `init` change and drop events, and keeps back what it fails for', async () => {
    const plausible = createPlausible(outbox);
    plausible.init({
      customProperties: { author: 'A' },
      transformRequest: (request) => {
        if (request.n === 'Secret') return null;
        if (request.n === 'Broken') throw new Error('of the page');
        const u = request.u?.replace('pricing', ':page');
        return { ...request, u, r: null, p: { ...request.p, seen: request.n }, $: undefined };
      },
    });
    plausible('pageview');
    plausible('Signup', { props: { plan: 'pro' }, revenue: { amount: 1, currency: 'EUR' } });
    const dropped = new Promise((callback) => plausible('Secret', { callback }));
    plausible('Broken');
    expect(bodies()).toEqual([
      ['Page Viewed', { ...PAGE, path: '/:page', referrer: null, author: 'A', seen: 'pageview' }],
      ['Signup', { path: '/:page', author: 'A', plan: 'pro', seen: 'Signup' }],
    ]);
    expect(await dropped).toBeUndefined();
    expect(outbox.drops()).toMatchObject([{ message: 'of the page' }]);
  });

  it('adds the custom properties of `init`', () => {
    const plausible = createPlausible(outbox);
    plausible.init({ customProperties: { author: 'A' } });
    plausible('One');
    plausible.init({ customProperties: (name) => ({ name }) });
    plausible('Two', { props: { plan: 'pro' } });
    expect(bodies()).toEqual([
      ['One', { author: 'A' }],
      ['Two', { name: 'Two', plan: 'pro' }],
    ]);
  });
});

describe('taking over the stub of Plausible', () => {
  type Stub = ((...args: unknown[]) => void) & { q?: unknown[]; o?: object };

  it('makes the calls that wait, in order, and those to come by either function', () => {
    // Elements are followed as long as the page is there.
    const own = createAnalytics();
    const stub: Stub = function (...args: unknown[]) {
      ((page['plausible'] as Stub).q ??= []).push({ ...args, length: args.length });
    };
    stub.o = { customProperties: { author: 'A' } };
    page['plausible'] = stub;
    stub('Signup', { props: { plan: 'pro' } });
    takeOverPlausible(own);
    stub('Kept');
    (page['plausible'] as Stub)('After');
    expect(own.events().map(({ event, tags }) => [event, tags])).toEqual([
      ['Signup', { author: 'A', plan: 'pro' }],
      ['Kept', { author: 'A' }],
      ['After', { author: 'A' }],
    ]);
  });

  it('follows elements with its class names', () => {
    document.body.innerHTML = `
      <a id="link" href="#x" class="plausible-event-name=Sign+Up plausible-event-plan=Pro+Plus"><b>x</b></a>
      <span class="plausible-event-name--Cms"><i id="inside"></i></span>
      <form class="plausible-event-name=Form+Sent plausible-event-position=footer
        plausible-revenue-amount=10.29"><button id="button" type="button"></button></form>
      <a id="other" href="#y"></a>`;
    const plausible = takeOverPlausible(outbox);
    expect(takeOverPlausible(outbox)).toBe(plausible); // and follows no element twice
    document.querySelector('b')!.click();
    document.getElementById('inside')!.click();
    document.getElementById('button')!.click();
    document.getElementById('other')!.click();
    document
      .getElementById('link')!
      .dispatchEvent(new MouseEvent('auxclick', { button: 2, bubbles: true }));
    document.querySelector('form')!.dispatchEvent(new Event('submit', { bubbles: true }));
    expect(bodies()).toEqual([
      ['Sign Up', { plan: 'Pro Plus' }],
      ['Cms', {}],
      ['Form Sent', { position: 'footer', amount: '10.29' }],
    ]);
  });
});
