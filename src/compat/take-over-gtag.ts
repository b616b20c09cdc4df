import { createGtag, type Gtag } from './gtag.js';
import type { ConsentTarget } from './target.js';

type Item = Record<string, unknown>;

/**
 * Takes what is pushed into `window.dataLayer`, and what was pushed so far: commands of `gtag`, and objects with an
 * `event`. The list goes on as it was, so that a tag manager beside this works. `gtag` is made where there is none.
 * Called again, it returns the function of the first call.
 * @example takeOverGtag(analytics);
 */
export const takeOverGtag = (analytics: ConsentTarget, list = 'dataLayer'): Gtag => {
  const page = globalThis as unknown as Record<string, unknown>;
  /** Has the function that it was taken over by: a second one would make each command twice. */
  const layer = (page[list] ??= []) as Item[] & { gtag?: Gtag };
  if (layer.gtag) return layer.gtag;
  const gtag = (layer.gtag = createGtag(analytics));
  const run = (item: Item) => {
    const { 0: command, event, ...fields } = Object(item) as Item;
    if (command) gtag(...(Array.from(item as never) as [string]));
    // Those of the tag manager itself tell of the page's life.
    else if (event && !/^gtm\./.test(event as string)) gtag('event', event, fields);
  };
  const push = layer.push.bind(layer);
  layer.push = (...items) => {
    items.forEach(run);
    return push(...items);
  };
  // Google's own script would take a list for something else than a command.
  page['gtag'] ??= function () {
    layer.push(arguments as never);
  };
  layer.forEach(run);
  return gtag;
};
