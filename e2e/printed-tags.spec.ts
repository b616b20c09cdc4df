import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page, Request } from '@playwright/test';
import { startDemo } from '../demo/site/start-demo.js';
import { tagFor } from '../src/program/paste.js';
import { isHelp } from './support/browser-noise.js';
import { LOCAL } from './support/developer-page.js';
import { DIST_FOLDER } from './support/dist.js';
import { htmlPage } from './support/html.js';
import { expect, test } from './support/test.js';

// A developer who pastes a tag that we print reads nothing in the console: each warning is about a mistake.

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** The scripts of a text that load a file of ours, each with the inline scripts and the stub above it. */
const tagsIn = (text: string): string[] =>
  [...text.matchAll(/<script[^]*<\/script>/g)]
    .map(([scripts]) => scripts)
    .filter((scripts) => /\boutbox(-auto|-relay)?\.js\b/.test(scripts));

/** The tags of a page of the docs: in any block of code. A block with `…` is not there to be pasted. */
const examplesOf = (file: string): [name: string, tag: string][] =>
  [...read(file).matchAll(/^ *```.*\n([^]*?)^ *```$/gm)]
    .map(([, code]) => code!)
    .filter((code) => !code.includes('…'))
    .flatMap(tagsIn)
    .map((tag, index) => [`${file}, ${index + 1}`, tag.replace(/<\?php.*?\?>/g, '/folder')]);

const PAGES = [
  'README.md',
  'site/index.md',
  ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`),
];
const EXAMPLES = PAGES.filter((file) => file.endsWith('.md')).flatMap(examplesOf);
const [ON_ERROR] = /onerror="[^"]+"/.exec(read('docs/tag.md'))!;

/** What `npm run build` prints: the stub, and a tag for each file. */
const printedByBuild = (): [name: string, tag: string][] => {
  // The tests can be listed before there is a build.
  if (!existsSync(DIST_FOLDER)) return [];
  const printed = execFileSync(process.execPath, ['scripts/print-tag.mjs'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return printed
    .split(/\n(?=<script async)/)
    .flatMap(tagsIn)
    .map((tag, index) => [`the build, ${index + 1}`, tag]);
};

const PLACE = { project: 'my-site', channel: 'web' };
const TAGS = Object.fromEntries([
  ...printedByBuild(),
  [
    'the program, for pages of this machine',
    tagFor({ ...PLACE, url: 'http://localhost:8787', isLocal: true }),
  ],
  ['the program, for a site', tagFor({ ...PLACE, url: '', isLocal: false })],
  ...EXAMPLES,
  ['docs/tag.md, with `onerror`', EXAMPLES[0]![1].replace('async', `async ${ON_ERROR}`)],
]);

/** All hosts of the web at once: the page, our files, the service and a relay. */
const answerTo = (request: Request, page: string) => {
  const { origin, pathname } = new URL(request.url());
  if (origin === LOCAL && pathname === '/') return { contentType: 'text/html', body: page };
  const file = basename(pathname);
  // To the byte, for the hashes in `integrity`.
  const path = join(DIST_FOLDER, file);
  if (existsSync(path)) return { contentType: 'text/javascript', body: readFileSync(path) };
  const { records = [] } = (request.postDataJSON() ?? {}) as { records?: { id: string }[] };
  const results = records.map(({ id }) => ({ id, outcome: 'delivered', status: 200 }));
  return { contentType: 'application/json', body: JSON.stringify({ results }) };
};

/** The lines of the console, but those for everybody whose page an automated browser opens. */
const listenTo = (page: Page): string[] => {
  const lines: string[] = [];
  page.on('console', (message) => {
    if (!isHelp(message) && !/captures nothing here/.test(message.text()))
      lines.push(message.text());
  });
  return lines;
};

test('finds the tags of the docs and of what prints them', () => {
  const names = Object.keys(TAGS);
  for (const file of ['README', 'site/index', 'docs/start', 'docs/tag'])
    expect(names).toContain(`${file}.md, 1`);
  expect(names.filter((name) => name.startsWith('the build'))).toHaveLength(3);
});

for (const [name, tag] of Object.entries(TAGS)) {
  test(`tells a developer nothing of the tag of ${name}`, async ({ page, guest }) => {
    guest.allow(/analytics-outbox: /);
    const lines = listenTo(page);
    const headers = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' };
    await page.route('**/*', (route) =>
      route.fulfill({ headers, ...answerTo(route.request(), htmlPage({ head: tag })) }),
    );
    await page.goto(`${LOCAL}/`);
    await page.waitForFunction(() => 'analytics' in window && 'status' in window.analytics);
    await page.evaluate(() => analytics.event('Tried'));
    const { delivered, waiting } = await page.evaluate(() => analytics.flush());
    expect([delivered > 0, waiting]).toEqual([true, 0]);
    // What is told of this mistake is told after all that the tag is told.
    await page.evaluate(() => analytics.event(''));
    await expect.poll(() => lines.join('\n')).toContain("give the event's name first");
    expect(lines).toHaveLength(1);
  });
}

test('tells a developer nothing below the tag of the demo', async ({ page, folder }) => {
  const anyPort = { port: 0, nextFree: false };
  const database = join(folder, 'demo.db');
  const demo = await startDemo({ page: anyPort, service: anyPort, database, token: 'a-token' });
  try {
    const lines = listenTo(page);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.goto(demo.url);
    await page.frameLocator('iframe').first().getByRole('button', { name: 'Buy' }).click();
    await expect(page.locator('.lane.with [data-verdict=stored]')).not.toHaveCount(0);
    // The scenes break the service.
    expect(lines.filter((line) => !/^Failed to load resource/.test(line))).toEqual([]);
  } finally {
    await demo.close();
  }
});
