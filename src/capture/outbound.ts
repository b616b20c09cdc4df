import { linkFeature } from './link.js';

/** Clicks on links to other hosts. */
export const outbound = linkFeature(
  ({ protocol, host }) => protocol.startsWith('http') && host !== location.host && {},
);
