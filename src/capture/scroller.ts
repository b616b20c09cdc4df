import { memberOf } from '../client/page.js';
import { ask } from './element.js';

const hidden = ({ scrollHeight, clientHeight }: Element): number => scrollHeight - clientHeight;

/** What scrolls the page: the page itself, or its `body` or `main` if more of that is hidden. */
export const scroller = (): Element => {
  let found: Element = memberOf(document, 'documentElement');
  for (const one of ask(document, 'querySelectorAll', 'body,main')) {
    if (hidden(one) > hidden(found)) found = one;
  }
  return found;
};
