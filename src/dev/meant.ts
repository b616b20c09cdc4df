import { nearest } from '../util/near.js';

const quoted = (name: string): string => `\`${name}\``;

/**
 * Asks whether a misspelt name was meant for one of these; an empty text if it is like none of them.
 * @param others what is meant by other names
 */
export const didYouMean = (
  name: string,
  names: readonly string[],
  form = quoted,
  others: Readonly<Record<string, string>> = {},
): string => {
  const near = names.includes(name) ? undefined : (others[name] ?? nearest(name, names));
  return near ? `did you mean ${form(near)}?` : '';
};
