/** Characters that a path, an address or a campaign may have: a router can make an address of any length. */
const LONGEST = 1_000;

/** So many characters of a text at the most, no half of an emoji, and a mark where it was cut. */
export const cut = (text: string, longest = LONGEST): string =>
  text.length > longest ? `${text.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '')}…` : text;
