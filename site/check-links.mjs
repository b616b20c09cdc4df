import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const LINK = /<a [^>]*?href="([^"]+)"/g;

/**
 * Throws if a link of the built site leads to a file or to a heading that is not there. VitePress looks for the pages of
 * Markdown links alone.
 */
export const checkLinks = (folder, base) => {
  const root = new URL(base, 'https://site.example');
  const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.html'));
  const texts = new Map(pages.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));

  const isDead = (link, from) => {
    const { origin, pathname, hash } = new URL(link.replaceAll('&amp;', '&'), new URL(from, root));
    if (origin !== root.origin) return false;
    if (!pathname.startsWith(base)) return true;
    const target = pathname.slice(base.length).replace(/(^|\/)$/, '$1index.html');
    if (!existsSync(join(folder, target))) return true;
    return !!hash && !texts.get(target)?.includes(`id="${decodeURIComponent(hash.slice(1))}"`);
  };

  const dead = [...texts].flatMap(([name, text]) =>
    [...text.matchAll(LINK)]
      .map(([, link]) => link)
      .filter((link) => isDead(link, name))
      .map((link) => `${name}: ${link}`),
  );
  if (dead.length) throw new Error(`These links lead nowhere:\n${dead.join('\n')}`);
};
