import { cut } from '../util/cut.js';
import { ask } from './element.js';
import type { TextLabels } from './types.js';

const LONGEST = 100;
/** Of an element with more text than this the rest is not read: white space is most of what some have. */
const ENOUGH = 10_000;
/** So many texts of an element are looked at. Each may have to be laid out. */
const MOST = 200;

/** `NodeFilter.SHOW_TEXT` */
const SHOW_TEXT = 4;

/** What holds text that a visitor has typed, or may choose, and what is folded away: it has a place on the page. */
const LEFT_OUT = 'textarea,select,[contenteditable],details:not([open])>:not(summary)';

/** The text of an element on one line, if it was asked for: what is displayed, and nothing that a visitor has typed. */
export const textOf = (element: Element, { text }: TextLabels): string | undefined => {
  if (!text) return undefined;
  const texts = ask(document, 'createTreeWalker', element, SHOW_TEXT);
  const range = new Range();
  let found = '';
  let left = MOST;
  while (left && found.length < ENOUGH && texts.nextNode()) {
    const { data, parentElement } = texts.currentNode as Text;
    range.selectNode(texts.currentNode);
    if (
      // White space between blocks has no place on the page, and parts words.
      !data.trim() ||
      (left-- &&
        !ask(parentElement!, 'closest', LEFT_OUT) &&
        // Text of a style, of a script, or of what is hidden has no place either.
        range.getClientRects().length &&
        getComputedStyle(parentElement!).visibility === 'visible')
    )
      found += data;
  }
  return cut(found.slice(0, ENOUGH).replace(/\s+/g, ' ').trim(), LONGEST);
};
