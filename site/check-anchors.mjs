import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Throws if a link of the built site leads to a heading that is not there. VitePress looks for pages alone. */
export const checkAnchors = (folder, base) => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.html'));
  const pages = new Map(files.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
  const root = new URL(base, 'https://site.example');
  const dead = [];
  for (const [name, html] of pages) {
    for (const [, link] of html.matchAll(/<a [^>]*?href="([^"]+)"/g)) {
      const { origin, pathname, hash } = new URL(
        link.replaceAll('&amp;', '&'),
        new URL(name, root),
      );
      if (origin !== root.origin || !hash) continue;
      const target = pathname.slice(base.length).replace(/(^|\/)$/, '$1index.html');
      const id = decodeURIComponent(hash.slice(1));
      if (!pages.get(target)?.includes(`id="${id}"`)) dead.push(`${name}: ${link}`);
    }
  }
  if (dead.length) throw new Error(`These links lead to no heading:\n${dead.join('\n')}`);
};
