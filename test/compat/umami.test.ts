// @vitest-environment happy-dom
// @vitest-environment-options { "url": "https://shop.example/pricing;jsessionid=1A?utm=a" }
import { expect, it } from 'vitest';
import { createUmami, takeOverUmami } from '../../src/compat-umami.js';
import { bodies, outbox, page, PAGE, users } from './bench.js';

// Each row of the page for those who come from there is run as well: `test/migration.test.ts`.
it('track by a function: an event with its data as tags', async () => {
  await createUmami(outbox).track((props) => ({ ...props, name: 'bought', data: { price: 5 } }));
  expect(bodies()).toEqual([['bought', { price: 5 }]]);
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
