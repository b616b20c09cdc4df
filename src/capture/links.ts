import { cut } from '../util/cut.js';
import { CLICKS, elementsOf, hrefOf, linkIn } from './clicked.js';
import type { Feature } from './feature.js';
import { textOf } from './text-of.js';
import type { DownloadLabels, TextLabels } from './types.js';
import { withoutQuery } from './without-query.js';

/** Clicks on links to addresses of the web, or to what the page has made, that `tagsOf` has something to say of. */
const linkFeature =
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
        url: url.host ? cut(url.origin + withoutQuery(url.pathname)) : url.protocol,
        ...found,
        text: textOf(element, labels),
      };
      // The page's own listeners come after this one.
      page.later(0, () => event.defaultPrevented || tell(tags));
    });

/** Clicks on links to other hosts. */
export const outbound = linkFeature(({ host }) => host && host !== location.host && {});

const EXTENSIONS = '7z|apk|csv|dmg|docx?|exe|gz|mp[34]|pdf|pkg|pptx?|rar|txt|xlsx?|zip';

/** Clicks on links to files. */
export const downloads = linkFeature<DownloadLabels>(
  ({ host, pathname }, element, { extensions }) => {
    const ending = RegExp(`\\.(${extensions?.join('|') ?? EXTENSIONS})$`, 'i');
    /** The name to save the file with. The browser finds one if it is empty. */
    const name = element.getAttribute('download');
    const found = ending.exec(withoutQuery(pathname)) ?? ending.exec(name!);
    // What the page has made has no host, and no file's name in its address.
    return ((host && found) || name !== null) && { extension: found?.[1]!.toLowerCase() };
  },
);
