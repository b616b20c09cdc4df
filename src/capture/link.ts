import { CLICKS, elementsOf, linkIn } from './clicked.js';
import type { Feature } from './feature.js';
import { textOf } from './text-of.js';
import type { TextLabels } from './types.js';

/** Clicks on links to addresses of the web that `tagsOf` has something to say of. */
export const linkFeature =
  <Labels extends TextLabels>(
    tagsOf: (url: URL, element: Element, labels: Labels) => object | false | null,
  ): Feature<Labels> =>
  (tell, labels, page) =>
    page.listen<MouseEvent>(window, CLICKS, (event) => {
      const element = linkIn(elementsOf(event));
      if (!element || event.button > 1) return;
      const url = new URL(element.getAttribute('href')!, document.baseURI);
      const tags = url.protocol.startsWith('http') && tagsOf(url, element, labels);
      // Without its query, which may say more than where it leads.
      if (tags) tell({ url: url.origin + url.pathname, ...tags, text: textOf(element, labels) });
    });
