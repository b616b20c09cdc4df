import { nearest } from '../util/near.js';

const quoted = (name: string): string => `\`${name}\``;

/** Asks whether a misspelt name was meant for one of these; an empty text if it is like none of them. */
export const didYouMean = (name: string, names: readonly string[], form = quoted): string => {
  const near = names.includes(name) ? undefined : nearest(name, names);
  return near ? `did you mean ${form(near)}?` : '';
};
