/** So many characters of a text at the most, and no half of an emoji. */
export const cut = (text: string, longest: number): string =>
  text.slice(0, longest).replace(/[\ud800-\udbff]$/, '');
