import { linkFeature } from './link.js';
import type { DownloadLabels } from './types.js';
import { withoutQuery } from './without-query.js';

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
