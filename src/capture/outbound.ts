import { linkFeature } from './link.js';

/** Clicks on links to other hosts. */
export const outbound = linkFeature(({ host }) => host && host !== location.host && {});
