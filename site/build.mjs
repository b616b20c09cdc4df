/**
 * Builds the documentation site from `docs/` and the sources.
 *
 *     node site/build.mjs          into site/dist/docs, to be served at /docs/
 *     node site/build.mjs --dev    shows the pages while they are written
 *
 * DOCS_BASE is the path at which the site will be served, `/docs/` unless it is given.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installLocked } from '../packed/support/install-locked.mjs';
import { checkLinks } from './check-links.mjs';
import { PAGES } from './where.mjs';

const { DOCS_BASE: BASE = '/docs/' } = process.env;
const SITE = fileURLToPath(new URL('.', import.meta.url));

installLocked({ source: SITE, folder: SITE, megabytes: 160 });
const { collectPages } = await import('./collect-pages.mjs');
const { writeApi } = await import('./write-api.mjs');
const { writeWire } = await import('./write-wire.mjs');
const { checkSearch } = await import('./check-search.mjs');
const { build, createServer } = await import('vitepress');

collectPages(PAGES);
await writeWire(PAGES);
await writeApi(PAGES);
if (process.argv.includes('--dev')) {
  const server = await createServer(SITE);
  await server.listen();
  server.printUrls();
} else {
  rmSync(join(SITE, 'dist'), { recursive: true, force: true });
  await build(SITE);
  checkLinks(join(SITE, 'dist/docs'), BASE);
  await checkSearch(join(SITE, 'dist/docs'), BASE);
}
