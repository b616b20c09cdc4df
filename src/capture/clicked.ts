import { ask } from './element.js';

/** The elements that an event passes, from the innermost out; those in open shadow trees too. */
export const elementsOf = (event: Event): Element[] =>
  event.composedPath().filter((target): target is Element => target instanceof Element);

/** Where a link leads. */
export const hrefOf = (element: Element): string | null =>
  // The older form in SVG.
  ask(element, 'getAttribute', 'href') ?? ask(element, 'getAttribute', 'xlink:href');

/** The link that a click follows: by the middle button (`auxclick`), or by a key, which makes a click too. */
export const linkIn = (elements: readonly Element[]): Element | undefined =>
  elements.find((one) => ask(one, 'matches', ':any-link'));

/** All clicks but those of the right button. */
export const CLICKS = 'click auxclick';
