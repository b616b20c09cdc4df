// @vitest-environment happy-dom
// @vitest-environment-options { "url": "https://shop.example/" }
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { capture, hide, mockDocument, show } from '../support/captured.js';

beforeEach(() => {
  vi.useFakeTimers();
  mockDocument('readyState', 'complete');
  show();
  history.replaceState({}, '', '/');
  document.title = 'Home';
});
afterEach(() => {
  vi.useRealTimers();
  document.body.innerHTML = '';
});

const pass = (ms: number) => vi.advanceTimersByTime(ms);

it('names who was there as the route was shown', () => {
  const { analytics } = capture({ pageviews: true });
  pass(100);
  history.pushState({}, '', '/login');
  analytics.identify('u');
  history.pushState({}, '', '/account');
  analytics.reset();
  hide();
  const views = analytics.events('Page Viewed');
  expect(views.map(({ tags, user_id }) => [tags, user_id])).toMatchObject([
    [{ path: '/' }, undefined],
    [{ path: '/login' }, undefined],
    [{ path: '/account' }, 'u'],
  ]);
});

it('takes hashes for routes where that is asked for, without what they are given', () => {
  history.replaceState({}, '', '#/items?secret=1');
  const { tags } = capture({ pageviews: { hash: true } });
  pass(100);
  for (const hash of [
    '#/items?secret=2',
    '#/items/lamp',
    '#top',
    '#/token=secret',
    '#/account&token=secret',
  ]) {
    history.pushState({}, '', hash);
    document.title = hash;
    pass(100);
  }
  expect(tags('Page Viewed').map(({ path, referrer }) => [path, referrer])).toEqual([
    ['/#/items', undefined],
    ['/#/items/lamp', 'https://shop.example/#/items'],
    ['/', 'https://shop.example/#/items/lamp'],
    ['/#/token', 'https://shop.example/'],
    ['/#/account', 'https://shop.example/#/token'],
  ]);
});

it('lets a function of the page change and drop events', () => {
  const { analytics } = capture({
    clicks: { channel: 'ui', tags: { site: 'shop' } },
    map: (event) => {
      if (event.name === 'Secret') return null;
      if (event.name === 'Failing') throw new Error('the page is at fault');
      event.tags['kind'] = event.kind;
      return { ...event, name: event.name.toUpperCase(), notify: true };
    },
  });
  for (const name of ['Secret', 'Failing', 'Clicked']) {
    document.body.innerHTML = `<button data-event="${name}">${name}</button>`;
    document.querySelector('button')!.click();
  }
  expect(analytics.events()).toMatchObject([
    {
      ...{ event: 'CLICKED', channel: 'ui', notify: true },
      tags: { path: '/', site: 'shop', kind: 'clicks' },
    },
  ]);
  expect(analytics.drops()).toMatchObject([
    { reason: 'not-serializable', message: 'the page is at fault' },
  ]);
});

it.each([
  [`no answer of https://a.example/b?name=O'Brien&email=x at all`, 'https://a.example/b at all'],
  [`no answer ("/c?q=(secret)&email=x") at all`, '("/c at all'],
  [`no answer \`/d?q="secret\`&email=x at all`, '`/d at all'],
  [`no answer: '#access_token=secret' is not a selector`, `' is not a selector`],
  [`no answer of /e#access_token=secret at all`, '/e at all'],
  [`no answer of https://user:pass#w?rd@a.example/f at all`, 'https://a.example/f at all'],
  [`no answer of https://secret@a.example/g@1.2/h at all`, 'https://a.example/g@1.2/h at all'],
  [`no answer of user:secret@a.example at all`, 'a.example at all'],
])('keeps no query, fragment or credentials of an address in a message: %s', (text, kept) => {
  const { tags } = capture({ errors: true });
  const rejection = new Event('unhandledrejection');
  window.dispatchEvent(Object.assign(rejection, { reason: new Error(text) }));
  const [{ message }] = tags('Error Occurred') as [{ message: string }];
  expect(message).toContain(kept);
  expect(message).not.toMatch(/secret|email|Brien|pass|w\?rd/);
});
