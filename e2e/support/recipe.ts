import { readFileSync } from 'node:fs';

/** The code of a recipe under a heading of a page in `docs`, as the page shows it. `nth` counts blocks of one language. */
export const recipeIn = (page: string, heading: string, language: string, nth = 0): string => {
  const text = readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8');
  const [, section = ''] = text.split(new RegExp(`^#+ ${heading}$`, 'm'));
  const blocks = [...section.matchAll(new RegExp('```' + language + '\\n([^]*?)```', 'g'))];
  return blocks[nth]![1]!;
};
