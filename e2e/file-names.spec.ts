import { readdirSync, readFileSync } from 'node:fs';
import { FILES } from '../demo/site/page-handler.js';
import { DIST_FOLDER } from './support/dist.js';
import { expect, test } from './support/test.js';

/** Lists of blockers name such files: `/analytics.js?`, `/dist/analytics.`, `/assets/analytics.`. */
const LISTED = /analytics/i;

test('no file that a site serves is named after analytics', () => {
  const manifest = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  ) as Record<'unpkg' | 'jsdelivr', string> & { exports: Record<string, unknown> };
  const files = readdirSync(DIST_FOLDER);
  expect(files).toEqual(expect.arrayContaining(['outbox.js', 'outbox-relay.js', 'stub.js']));
  const served = [
    ...files,
    ...Object.keys(manifest.exports),
    JSON.stringify(manifest.exports),
    manifest.unpkg,
    manifest.jsdelivr,
    ...Object.keys(FILES),
  ];
  expect(served.filter((name) => LISTED.test(name))).toEqual([]);
});

test('no request of a page has analytics in its path @relay', async ({ page, service, site }) => {
  const paths: string[] = [];
  page.context().on('request', (request) => paths.push(new URL(request.url()).pathname));
  await page.goto(site.page('/', site.tagged()));
  await page.evaluate(() => {
    void analytics.identify('user');
    void analytics.event('Seen');
    return analytics.flush();
  });
  await service.holds({ events: ['Seen'], identifies: ['user'] }, { pages: [page] });
  expect(paths.some((path) => /\/outbox(-relay)?\.js$/.test(path))).toBe(true);
  expect(paths.some((path) => path.includes('/v1/'))).toBe(true);
  expect(paths.filter((path) => LISTED.test(path))).toEqual([]);
});
