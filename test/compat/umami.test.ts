// @vitest-environment happy-dom
// @vitest-environment-options { "url": "https://shop.example/pricing;jsessionid=1A?utm=a" }
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createUmami, takeOverUmami } from '../../src/compat-umami.js';
import { createAnalytics } from '../../src/testing.js';

const outbox = createAnalytics();
const bodies = () => outbox.events().map(({ event, tags }) => [event, tags]);
const PAGE = { path: '/pricing', title: 'Pricing', referrer: '' };

beforeEach(() => {
  outbox.clear();
  document.title = 'Pricing';
});
afterEach(() => void Reflect.deleteProperty(globalThis, 'umami'));

it('track: an event with its data as tags', async () => {
  const umami = createUmami(outbox);
  await umami.track('signup-button');
  await umami.track('signup-button', { name: 'newsletter', id: 123 });
  await umami.track((props) => ({ ...props, name: 'bought', data: { price: 5 } }));
  expect(bodies()).toEqual([
    ['signup-button', {}],
    ['signup-button', { name: 'newsletter', id: 123 }],
    ['bought', { price: 5 }],
  ]);
});

it('track without a name: a view of the page, or of what it is given', async () => {
  const umami = createUmami(outbox);
  await umami.track();
  await umami.track({ website: 'e676c9b4', url: '/home?q=secret', title: 'Home page' });
  await umami.track((props) => ({ ...props, url: 'https://shop.example/cart' }));
  await umami.track(() => null);
  expect(bodies()).toEqual([
    ['Page Viewed', PAGE],
    ['Page Viewed', { ...PAGE, path: '/home', title: 'Home page' }],
    ['Page Viewed', { ...PAGE, path: '/cart' }],
  ]);
});

it('identify: the user, or data of the one who is known', async () => {
  const umami = createUmami(outbox);
  await umami.identify('u1');
  await umami.identify('u1', { name: 'Bob' });
  await umami.identify({ email: 'bob@aol.com' });
  expect(outbox.identifies().map(({ user_id, properties }) => [user_id, properties])).toEqual([
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
  expect((globalThis as { umami?: unknown }).umami).toBe(umami);
  document.querySelector('b')!.click();
  document.querySelector('a')!.click();
  const once = [['Signup button', { email: 'bob@aol.com', 'plan-name': 'pro' }]];
  expect(bodies()).toEqual(once);

  expect(takeOverUmami(outbox)).toBe(umami);
  outbox.clear();
  document.querySelector('b')!.click();
  expect(bodies()).toEqual(once);
});
