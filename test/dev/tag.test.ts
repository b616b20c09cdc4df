// @vitest-environment happy-dom
import { expect, it } from 'vitest';
import { tagProblems } from '../../src/dev/tag.js';

const tagWith = (attributes: string): HTMLScriptElement => {
  const box = document.createElement('div');
  box.innerHTML = `<script src="/outbox.js" ${attributes}></script>`;
  return box.querySelector('script')!;
};

/** What HTML has for any element, and for a script. */
const OF_HTML = [
  ...['async', 'defer', 'type', 'nonce', 'integrity', 'crossorigin', 'fetchpriority', 'blocking'],
  ...['referrerpolicy', 'nomodule', 'charset', 'language', 'attributionsrc', 'event', 'for'],
  ...['id', 'class', 'style', 'title', 'lang', 'dir', 'hidden', 'slot', 'part', 'is', 'inert'],
  ...['tabindex', 'translate', 'draggable', 'spellcheck', 'role', 'itemid', 'itemprop', 'popover'],
];
const HANDLERS = ['onerror', 'onload', 'ondrop', 'onabort', 'onreset', 'onbeforetoggle'];

// What it tells of mistakes is in the folder `mistakes`.
it('tells nothing of the attributes that HTML has', () => {
  const attributes = [
    ...OF_HTML.map((name) => `${name}="x"`),
    ...HANDLERS.map((name) => `${name}="console.error(this.src + ' did not load')"`),
  ];
  expect(tagProblems(tagWith(attributes.join(' ')))).toEqual([]);
});
