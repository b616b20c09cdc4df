// @vitest-environment happy-dom
// @vitest-environment-options { "url": "https://shop.example/pricing;jsessionid=1A?utm=a" }
import { expect, it } from 'vitest';
import { createUmami, takeOverUmami } from '../../src/compat-umami.js';
import { bodies, outbox, page, PAGE, users } from './bench.js';

// Each row of the page for those who come from there is run as well: `test/migration.test.ts`.
it('track by a function: an event of the page that it names, with its data as tags', async () => {
  const umami = createUmami(outbox);
  await umami.track((props) => ({ ...props, name: 'bought', data: { price: 5 } }));
  await umami.track((props) => ({
    ...props,
    ...{ name: 'paid', url: '/orders/:id?q=secret', title: 'An order' },
  }));
  await umami.track({ name: 'sent', url: '/orders/:id', data: { title: 'of the data' } });
  await umami.track({ name: 'bare', data: { price: 5 } });
  expect(bodies()).toEqual([
    ['bought', { ...PAGE, price: 5 }],
    ['paid', { ...PAGE, path: '/orders/:id', title: 'An order' }],
    ['sent', { path: '/orders/:id', title: 'of the data' }],
    ['bare', { price: 5 }],
  ]);
});

it('track by a function: is given what Umami knows of the page', async () => {
  await createUmami(outbox).track(({ url, hostname, language, screen }) => ({
    ...{ name: 'A', url: new URL(url!).pathname.replace('pricing', ':page') },
    data: { hostname, hasLanguage: typeof language, size: /^\d+x\d+$/.test(screen as string) },
  }));
  expect(bodies()).toEqual([
    ['A', { path: '/:page', hostname: 'shop.example', hasLanguage: 'string', size: true }],
  ]);
});

it('track without a name: a view of what it is given', async () => {
  const umami = createUmami(outbox);
  await umami.track({ website: 'e676c9b4', url: '/home?q=secret', title: 'Home page' });
  await umami.track((props) => ({ ...props, url: 'https://shop.example/cart' }));
  await umami.track(() => null);
  expect(bodies()).toEqual([
    ['Page Viewed', { ...PAGE, path: '/home', title: 'Home page' }],
    ['Page Viewed', { ...PAGE, path: '/cart' }],
  ]);
});

it('identify: the user, or data of the one who is known', async () => {
  const umami = createUmami(outbox);
  await umami.identify('u1');
  await umami.identify('u1', { name: 'Bob' });
  await umami.identify({ email: 'bob@aol.com' });
  expect(users()).toEqual([
    ['u1', {}],
    ['u1', { name: 'Bob' }],
    ['u1', { email: 'bob@aol.com' }],
  ]);
});

it('makes the global, and follows elements with its attributes', async () => {
  document.body.innerHTML = `
    <button id="a" data-umami-event="Signup button" data-umami-event-email="bob@aol.com"
      data-umami-event-plan-name="pro"><b>x</b></button>
    <a href="#x">other</a>`;
  const umami = takeOverUmami(outbox);
  expect(page['umami']).toBe(umami);
  document.querySelector('b')!.click();
  document.querySelector('a')!.click();
  const once = [['Signup button', { email: 'bob@aol.com', 'plan-name': 'pro' }]];
  expect(bodies()).toEqual(once);

  expect(takeOverUmami(outbox)).toBe(umami);
  outbox.clear();
  document.querySelector('b')!.click();
  expect(bodies()).toEqual(once);
});
