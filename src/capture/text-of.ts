import { ask } from './element.js';
import type { TextLabels } from './types.js';

const LONGEST = 100;
/** Of an element with more text than this the rest is not read: white space is most of what some have. */
const ENOUGH = 10_000;

/** What holds text that a visitor has typed, or may choose. */
const TYPED = 'textarea,select,[contenteditable]';

/** The text of an element on one line, if it was asked for; nothing that a visitor has typed. */
export const textOf = (element: Element, { text }: TextLabels): string | undefined => {
  if (!text) return undefined;
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let found = '';
  while (found.length < ENOUGH && texts.nextNode()) {
    const { data, parentElement } = texts.currentNode as Text;
    if (!ask(parentElement!, 'closest', TYPED)) found += data;
  }
  return found.replace(/\s+/g, ' ').trim().slice(0, LONGEST);
};
