// @vitest-environment happy-dom
// @vitest-environment-options { "url": "https://shop.example/pricing;jsessionid=1A?utm=a" }
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createPlausible, takeOverPlausible } from '../../src/compat-plausible.js';
import { createAnalytics } from '../../src/testing.js';

const outbox = createAnalytics();
const bodies = () => outbox.events().map(({ event, tags }) => [event, tags]);
const PAGE = { path: '/pricing', title: 'Pricing', referrer: '' };

beforeEach(() => {
  outbox.clear();
  document.title = 'Pricing';
});

describe('the function of Plausible', () => {
  it('is an event whose tags are the props and the revenue', () => {
    const plausible = createPlausible(outbox);
    plausible('Signup');
    plausible('Download', { props: { method: 'HTTP' }, interactive: false });
    plausible('Purchase', { revenue: { currency: 'USD', amount: 1322.22 } });
    expect(bodies()).toEqual([
      ['Signup', {}],
      ['Download', { method: 'HTTP' }],
      ['Purchase', { currency: 'USD', amount: 1322.22 }],
    ]);
  });

  it('takes a page view for the page, or for the address that it is given', () => {
    const plausible = createPlausible(outbox);
    plausible('pageview');
    plausible('pageview', { url: 'https://shop.example/docs?q=secret', props: { author: 'A' } });
    expect(bodies()).toEqual([
      ['Page Viewed', PAGE],
      ['Page Viewed', { ...PAGE, path: '/docs', author: 'A' }],
    ]);
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

  it('calls back', async () => {
    const callback = vi.fn();
    createPlausible(outbox)('Signup', { callback });
    expect(callback).not.toHaveBeenCalled();
    await vi.waitFor(() => expect(callback).toHaveBeenCalledWith({ status: 202 }));
  });
});

describe('taking over the stub of Plausible', () => {
  type Stub = ((...args: unknown[]) => void) & { q?: unknown[]; o?: object };
  const page = globalThis as unknown as { plausible?: Stub };
  afterEach(() => void delete page.plausible);

  it('makes the calls that wait, in order, and those to come by either function', () => {
    // Elements are followed as long as the page is there.
    const own = createAnalytics();
    const stub: Stub = function (...args: unknown[]) {
      (page.plausible!.q ??= []).push({ ...args, length: args.length });
    };
    stub.o = { customProperties: { author: 'A' } };
    page.plausible = stub;
    stub('Signup', { props: { plan: 'pro' } });
    takeOverPlausible(own);
    stub('Kept');
    page.plausible('After');
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
