import { memberOf } from '../client/page.js';

/** What scrolls where the page itself does not, such as its `main`: what fills the middle of the window. */
const scroller = (): Element | null => {
  let element = memberOf(document, 'elementFromPoint').call(
    document,
    innerWidth / 2,
    innerHeight / 2,
  );
  const isIt = ({ scrollHeight, clientHeight }: Element) =>
    scrollHeight > clientHeight &&
    clientHeight > innerHeight / 2 &&
    /auto|scroll/.test(getComputedStyle(element!).overflowY);
  while (element && !isIt(element)) element = element.parentElement;
  return element;
};

/** The lowest edge that is seen, in pixels from the top of the page, and the page's height. */
export const scrolled = (): [lowest: number, height: number] => {
  const { scrollHeight } = memberOf(document, 'documentElement');
  const inner = scrollHeight <= innerHeight && scroller();
  return inner
    ? [inner.scrollTop + inner.clientHeight, inner.scrollHeight]
    : [scrollY + innerHeight, scrollHeight];
};
