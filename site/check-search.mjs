import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import MiniSearch from 'minisearch'; // comes with VitePress
import { SEARCH } from './search.mjs';
import { SEARCHES } from './searches.mjs';

/** Not all: a word may be new to the docs. */
const WANTED = 60;

const readIndex = async (folder) => {
  const chunks = join(folder, 'assets/chunks');
  const name = readdirSync(chunks).find((file) => file.startsWith('@localSearchIndex'));
  const { default: json } = await import(pathToFileURL(join(chunks, name)).href);
  return MiniSearch.loadJSON(json, {
    fields: ['title', 'titles', 'text'],
    storeFields: ['title', 'titles'],
    searchOptions: SEARCH,
  });
};

/** Searches the built site as its search box does. Throws if too few searches find their page. */
export const checkSearch = async (folder, base) => {
  const index = await readIndex(folder);
  const pagesFor = (query) => [
    ...new Set(
      index.search(query).map(({ id }) => id.slice(base.length).replace(/(\.html)?(#.*)?$/, '')),
    ),
  ];
  const missed = Object.entries(SEARCHES)
    .map(([query, right]) => ({ query, right, found: pagesFor(query).slice(0, 2) }))
    .filter(({ right, found }) => !found.some((page) => right.includes(page)));
  const total = Object.keys(SEARCHES).length;
  for (const { query, found } of missed)
    console.log(`"${query}" finds ${found.join(' and ') || 'nothing'}`);
  console.log(`${total - missed.length} of ${total} searches find their page`);
  if (total - missed.length < WANTED) throw new Error('Too few searches find their page.');
};
