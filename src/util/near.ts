/** Case and separators do not count: `data-base_url` and `baseURL` are the same name. */
const plain = (name: string): string => name.replace(/[\W_]/g, '').toLowerCase();

/** Whether one word becomes the other when at most this many letters are added or removed. */
const isWithin = (a: string, b: string, edits: number): boolean => {
  if (!a || !b) return a.length + b.length <= edits;
  if (a[0] === b[0]) return isWithin(a.slice(1), b.slice(1), edits);
  return edits > 0 && (isWithin(a.slice(1), b, edits - 1) || isWithin(a, b.slice(1), edits - 1));
};

const isNear = (given: string, name: string): boolean =>
  isWithin(given, name, name.length > 5 && given.length === name.length ? 2 : 1);

/**
 * The name that was probably meant by a misspelt one. In any name a letter may be missing or too many. In a name of
 * more than five letters, one may also be wrong, or two swapped; in short names that would catch other words, such as
 * `tabs` for `tags`.
 */
export const nearest = (given: string, names: readonly string[]): string | undefined =>
  names.find((name) => name !== given && isNear(plain(given), plain(name)));
