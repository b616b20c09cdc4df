// @vitest-environment happy-dom
// @vitest-environment-options { "url": "https://shop.example/", "settings": { "navigation": { "disableMainFrameNavigation": true } } }
import { expect, it, vi } from 'vitest';
import { onNavigation } from '../../src/client/life.js';

const LINK = '<a href="/next"><b>on</b></a>';

/** How often a page hears of a navigation as its first `b`, or its first form, is used. */
const heardOf = (html: string, use: (element: HTMLElement) => unknown): number => {
  document.body.innerHTML = html;
  const begin = vi.fn();
  const end = onNavigation(() => undefined, begin);
  use(document.querySelector('b, form')!);
  end();
  use(document.querySelector('b, form')!); // nobody listens any more
  return begin.mock.calls.length;
};
const click = (element: HTMLElement) => element.click();

it.each([
  ['a link', LINK],
  [
    'an area, or an element of another kind, that is a link',
    '<x-link href="/next"><b></b></x-link>',
  ],
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

it('a click on a link in a shadow tree does, also through a slot', () => {
  const use = (element: HTMLElement) => {
    const tree = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
    tree.innerHTML = '<a href="/next"><i>on</i></a>';
    tree.querySelector('i')!.click();
  };
  expect(heardOf('<b></b>', use)).toBe(1);
});

it('so does a form that is sent, unless a listener prevents it', () => {
  const say = (isPrevented: boolean) => (form: HTMLElement) => {
    const event = new Event('submit', { bubbles: true, cancelable: true });
    if (isPrevented) form.addEventListener('submit', (event) => event.preventDefault());
    form.dispatchEvent(event);
  };
  expect(heardOf('<form></form>', say(false))).toBe(1);
  expect(heardOf('<form></form>', say(true))).toBe(0);
});

it('no element of the page breaks it by its name', () => {
  const html = '<form><input name="matches"><a href="/next"><b>on</b></a></form>';
  document.body.innerHTML = html;
  expect(() => heardOf(html, click)).not.toThrow();
});
