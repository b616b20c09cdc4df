// @vitest-environment happy-dom
// @vitest-environment-options { "url": "https://shop.example/", "settings": { "navigation": { "disableMainFrameNavigation": true } } }
import { expect, it, vi } from 'vitest';
import { followPage, onNavigation } from '../../src/client/life.js';

const LINK = '<a href="/next"><b>on</b></a>';

/** How often a page hears of a navigation as its first `b`, or its first form, is used. */
const heardOf = (html: string, use: (element: HTMLElement) => unknown): number => {
  document.body.innerHTML = html;
  const begin = vi.fn();
  const none = () => undefined;
  const ends = [followPage(none, none, none, none), onNavigation(begin, none)];
  use(document.querySelector('b, form')!);
  for (const end of ends) end();
  use(document.querySelector('b, form')!); // nobody listens any more
  return begin.mock.calls.length;
};
const click = (element: HTMLElement) => element.click();

it.each([
  ['a link', LINK],
  ['an element of another kind that has an address', '<x-link href="/next"><b></b></x-link>'],
])('a click on %s begins a navigation', (_, html) => {
  expect(heardOf(html, click)).toBe(1);
});

it.each([
  ['what is no link', '<button><b>on</b></button>'],
  ['a place of the page', '<a href="#place"><b>on</b></a>'],
  ['a link for another window', '<a href="/next" target="_blank"><b>on</b></a>'],
  ['a download', '<a href="/file" download><b>on</b></a>'],
  ['a link whose click a router handles', `<p onclick="event.preventDefault()">${LINK}</p>`],
])('a click on %s does not', (_, html) => {
  const use = (element: HTMLElement) => {
    document.querySelector('p')?.addEventListener('click', (event) => event.preventDefault());
    element.click();
  };
  expect(heardOf(html, use)).toBe(0);
});

it('a form that is sent begins one, unless a listener prevents it', () => {
  const say = (isPrevented: boolean) => (form: HTMLElement) => {
    const event = new Event('submit', { bubbles: true, cancelable: true });
    if (isPrevented) form.addEventListener('submit', (event) => event.preventDefault());
    form.dispatchEvent(event);
  };
  expect(heardOf('<form></form>', say(false))).toBe(1);
  expect(heardOf('<form></form>', say(true))).toBe(0);
});

it('no element of the page breaks it by its name', () => {
  const html = '<form><input name="closest"></form>';
  const onError = vi.fn();
  window.addEventListener('error', onError);
  expect(heardOf(html, click)).toBe(0);
  window.removeEventListener('error', onError);
  expect(onError).not.toHaveBeenCalled();
});
