import { linkFeature } from './link.js';
import type { DownloadLabels } from './types.js';
import { withoutParameters } from './without-query.js';

const EXTENSIONS = '7z|apk|csv|dmg|docx?|exe|gz|mp[34]|pdf|pkg|pptx?|rar|txt|xlsx?|zip';

/** Clicks on links to files, and to those that the page has made itself (`blob:` and `data:`). */
export const downloads = linkFeature<DownloadLabels>(
  ({ protocol, pathname }, element, { extensions }) => {
    const ending = RegExp(`\\.(${extensions?.join('|') ?? EXTENSIONS})$`, 'i');
    /** The name that the file is to be saved with; the browser finds one itself where it is empty. */
    const name = element.getAttribute('download');
    const found = ending.exec(withoutParameters(pathname)) ?? ending.exec(name ?? '');
    const isFile = (name === null ? found && /^http/ : /^(http|blob|data)/)?.test(protocol);
    return !!isFile && { extension: found?.[1]!.toLowerCase() };
  },
);
