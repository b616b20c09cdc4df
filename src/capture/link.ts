import { CLICKS, elementsOf, hrefOf, linkIn } from './clicked.js';
import type { Feature } from './feature.js';
import { textOf } from './text-of.js';
import type { TextLabels } from './types.js';
import { withoutQuery } from './without-query.js';

/** Clicks on links to addresses of the web, or to what the page has made, that `tagsOf` has something to say of. */
export const linkFeature =
  <Labels extends TextLabels>(
    tagsOf: (url: URL, element: Element, labels: Labels) => object | false | '' | null,
  ): Feature<Labels> =>
  (tell, labels, page) =>
    page.listen<MouseEvent>(window, CLICKS, (event) => {
      const element = linkIn(elementsOf(event));
      if (!element || event.button > 1) return;
      const url = new URL(hrefOf(element)!, element.baseURI);
      const found = /^(http|blob|data)/.test(url.protocol) && tagsOf(url, element, labels);
      if (!found) return;
      const tags = {
        path: page.path(),
        // Without its query, which may say more than where it leads. Of `blob:` and `data:` the rest is the file.
        url: url.host ? url.origin + withoutQuery(url.pathname) : url.protocol,
        ...found,
        text: textOf(element, labels),
      };
      // The page's own listeners come after this one.
      page.later(0, () => event.defaultPrevented || tell(tags));
    });

/** Clicks on links to other hosts. */
export const outbound = linkFeature(({ host }) => host && host !== location.host && {});
