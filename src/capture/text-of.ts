import { ask } from './element.js';
import type { TextLabels } from './types.js';

const LONGEST = 100;
/** Of an element with more text than this the rest is not read: white space is most of what some have. */
const ENOUGH = 10_000;

/** `NodeFilter.SHOW_TEXT` */
const SHOW_TEXT = 4;

/** What holds text that a visitor has typed, or may choose, and what is folded away: it has a place on the page. */
const LEFT_OUT = 'textarea,select,[contenteditable],details:not([open])>:not(summary)';

/** The text of an element on one line, if it was asked for: what is displayed, and nothing that a visitor has typed. */
export const textOf = (element: Element, { text }: TextLabels): string | undefined => {
  if (!text) return undefined;
  const texts = ask(document, 'createTreeWalker', element, SHOW_TEXT);
  const range = new Range();
  /** Text of a style, of a script, or of what is hidden has no place on the page. */
  const isDisplayed = (node: Node, parent: Element) => {
    range.selectNode(node);
    return range.getClientRects().length && getComputedStyle(parent).visibility === 'visible';
  };
  let found = '';
  while (found.length < ENOUGH && texts.nextNode()) {
    const { data, parentElement } = texts.currentNode as Text;
    if (
      !ask(parentElement!, 'closest', LEFT_OUT) &&
      // White space between blocks has no place either, and parts words.
      (!data.trim() || isDisplayed(texts.currentNode, parentElement!))
    )
      found += data;
  }
  return cut(found.slice(0, ENOUGH).replace(/\s+/g, ' ').trim(), LONGEST);
};

/** So many characters of a text at the most, and no half of an emoji. */
export const cut = (text: string, longest: number): string =>
  text.slice(0, longest).replace(/[\ud800-\udbff]$/, '');
