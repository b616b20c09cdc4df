/** `data-base_url` and `baseURL` are no names of their own. */
const plain = (name: string): string => name.replace(/[\W_]/g, '').toLowerCase();

/** Whether one word becomes the other when so many letters at the most are added or removed. */
const isWithin = (a: string, b: string, edits: number): boolean => {
  if (!a || !b) return a.length + b.length <= edits;
  if (a[0] === b[0]) return isWithin(a.slice(1), b.slice(1), edits);
  return edits > 0 && (isWithin(a.slice(1), b, edits - 1) || isWithin(a, b.slice(1), edits - 1));
};

const isNear = (given: string, name: string): boolean =>
  isWithin(given, name, name.length > 5 && given.length === name.length ? 2 : 1);

/**
 * The name that a misspelt one was probably meant for: a letter is missing or too many, or, in a name of more
 * than five letters, a letter is wrong or two are swapped. Among short names that would catch words of their
 * own, such as `tabs` beside `tags`.
 */
export const nearest = (given: string, names: readonly string[]): string | undefined =>
  names.find((name) => name !== given && isNear(plain(given), plain(name)));
