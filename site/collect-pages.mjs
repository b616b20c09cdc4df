import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, posix } from 'node:path';
import { DOCS, REPOSITORY } from './where.mjs';
import { withTabs } from './tabs.mjs';

const isOnTheSite = (path) => !path.startsWith('../') && existsSync(join(DOCS, path));

/** Links work on GitHub as they are written. Those that leave the site lead there. */
export const withLinks = (text) =>
  text
    .replaceAll(`](${REPOSITORY}/blob/main/docs/`, '](')
    .replaceAll(/\]\((?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?\)/g, (link, path, anchor = '') =>
      isOnTheSite(path) ? link : `](${REPOSITORY}/blob/main/${posix.join('docs', path)}${anchor})`,
    );

const PICTURES = join(DOCS, 'pictures');
const ALT =
  'The tour of the demo: calls go as dots from a page into its outbox, over the wire and into the service.';

/** The film of the tour, one for each colour scheme that there is one for, or a still for whom motion is too much. */
const filmOf = (pictures) =>
  ['light', 'dark']
    .filter((scheme) => pictures.includes(`tour-${scheme}.webp`))
    .map((scheme, _index, { length }) => {
      const still = pictures.includes(`still-${scheme}.webp`)
        ? `<source media="(prefers-reduced-motion: reduce)" srcset="./pictures/still-${scheme}.webp">`
        : '';
      const isFor = length > 1 ? ` class="on-${scheme}"` : '';
      return `<picture${isFor}>${still}<img alt="${ALT}" src="./pictures/tour-${scheme}.webp" loading="lazy" width="960"></picture>`;
    })
    .join('\n');

/** Copies the home page and those of `docs/` into a folder, in which nothing else stays. */
export const collectPages = (pages) => {
  rmSync(pages, { recursive: true, force: true });
  mkdirSync(pages);
  for (const name of readdirSync(DOCS)) {
    if (!name.endsWith('.md')) continue;
    writeFileSync(join(pages, name), withTabs(withLinks(readFileSync(join(DOCS, name), 'utf8'))));
  }
  cpSync(new URL('icon.svg', import.meta.url), join(pages, 'public/icon.svg'));
  const pictures = existsSync(PICTURES) ? readdirSync(PICTURES) : [];
  if (pictures.length) cpSync(PICTURES, join(pages, 'pictures'), { recursive: true });
  const home = readFileSync(new URL('index.md', import.meta.url), 'utf8');
  writeFileSync(join(pages, 'index.md'), home.replace('<!-- picture -->', filmOf(pictures)));
};
