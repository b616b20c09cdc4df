/** Refuses the options in words that name the one, its form on the tag, and the fix. */
export const wrong = (name: string, problem: string): never => {
  throw new TypeError(`analytics.init: option \`${name}\` (${attributeOf(name)}) ${problem}`);
};

export const missing = (name: string, words: string): never =>
  wrong(name, `is missing: give ${words}`);

const attributeOf = (name: string): string =>
  'data-' + name.replace(/[A-Z]/g, (letter) => '-' + letter.toLowerCase());
