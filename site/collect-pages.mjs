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
/** Copies the home page and those of `docs/` into a folder, in which nothing else stays. */
export const collectPages = (pages) => {
  rmSync(pages, { recursive: true, force: true });
  mkdirSync(pages);
  for (const name of readdirSync(DOCS)) {
    if (!name.endsWith('.md')) continue;
    writeFileSync(join(pages, name), withTabs(withLinks(readFileSync(join(DOCS, name), 'utf8'))));
  }
  cpSync(new URL('index.md', import.meta.url), join(pages, 'index.md'));
  cpSync(new URL('icon.svg', import.meta.url), join(pages, 'public/icon.svg'));
  cpSync(PICTURES, join(pages, 'public/pictures'), { recursive: true });
};
