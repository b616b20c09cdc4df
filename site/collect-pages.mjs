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
import { DOCS, PAGES, REPOSITORY } from './where.mjs';
import { withTabs } from './tabs.mjs';

/** Pages for those who work on the project: they stay in the repository. */
export const NOT_ON_THE_SITE = /^(fleet|performance|testing)\.md$/;

const isOnTheSite = (path) =>
  !path.startsWith('../') && !NOT_ON_THE_SITE.test(path) && existsSync(join(DOCS, path));

/** Links work on GitHub as they are written. Those that leave the site lead there. */
export const withLinks = (text) =>
  text
    .replaceAll(`](${REPOSITORY}/blob/main/docs/`, '](')
    .replaceAll(/\]\((?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?\)/g, (link, path, anchor = '') =>
      isOnTheSite(path) ? link : `](${REPOSITORY}/blob/main/${posix.join('docs', path)}${anchor})`,
    );

/** Copies the home page and those of `docs/` to where VitePress reads them. */
export const collectPages = () => {
  rmSync(PAGES, { recursive: true, force: true });
  mkdirSync(PAGES);
  for (const name of readdirSync(DOCS)) {
    if (!name.endsWith('.md') || NOT_ON_THE_SITE.test(name)) continue;
    writeFileSync(join(PAGES, name), withTabs(withLinks(readFileSync(join(DOCS, name), 'utf8'))));
  }
  cpSync(new URL('icon.svg', import.meta.url), join(PAGES, 'public/icon.svg'));
  const pictures = existsSync(join(DOCS, 'pictures')) ? readdirSync(join(DOCS, 'pictures')) : [];
  if (pictures.length) cpSync(join(DOCS, 'pictures'), join(PAGES, 'pictures'), { recursive: true });
  const tour = pictures.find((name) => /^tour.*\.(gif|webp|png|svg)$/.test(name));
  const picture = tour
    ? `![The way of an event from the page to the service](pictures/${tour})`
    : '';
  const home = readFileSync(new URL('index.md', import.meta.url), 'utf8');
  writeFileSync(join(PAGES, 'index.md'), home.replace('<!-- picture -->', picture));
};
