import { linkFeature } from './link.js';
import type { DownloadLabels } from './types.js';

const EXTENSIONS = '7z|apk|csv|dmg|docx?|exe|gz|mp[34]|pdf|pkg|pptx?|rar|txt|xlsx?|zip';

/** Clicks on links to files. */
export const downloads = linkFeature<DownloadLabels>(({ pathname }, element, { extensions }) => {
  const ending = RegExp(`\\.(${extensions?.join('|') ?? EXTENSIONS})$`, 'i').exec(pathname);
  return (ending || element.hasAttribute('download')) && { extension: ending?.[1]!.toLowerCase() };
});
