import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Page } from '@playwright/test';
import { RELAY } from './support/relay.js';
import { expect, test } from './support/test.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** As built, and as a user's test has it. */
const { collectRows } = (await import(
  join(ROOT, 'dist/testing.js')
)) as typeof import('../src/testing.js');

/** Runs a program of Node in the folder of the examples, and answers with what it prints. */
const run = async (program: string, args: string[], more: Record<string, string> = {}) => {
  // Not what tells a child of Playwright that it is one.
  const env = { PATH: process.env.PATH!, HOME: process.env.HOME!, ...more };
  const cwd = join(ROOT, 'e2e/fixtures/testing');
  const command = [join(ROOT, 'node_modules', program), ...args];
  return (await promisify(execFile)(process.execPath, command, { cwd, env })).stdout;
};

const SIGN_UP = `<button onclick="analytics.identify('user_1'); analytics.event('Signed Up', { plan: 'pro' })">Sign up</button>`;

test.describe('the examples for tests of users', () => {
  test('compile', async () => {
    await run('typescript-7/bin/tsc', ['--project', '.']);
  });

  test('with Vitest pass', async () => {
    const told = await run('vitest/vitest.mjs', [...['run', '--root', '.', '--reporter', 'json']]);
    const { numPassedTests, numTotalTests } = JSON.parse(told) as Record<string, number>;
    expect([numPassedTests, numTotalTests]).toEqual([2, 2]);
  });

  test('with Playwright pass @nightly', async ({ site, folder, launchOptions }) => {
    site.page('/sign-up', site.tagged({ flushInterval: 50 }, { body: SIGN_UP }));
    const told = await run('@playwright/test/cli.js', ['test', 'sign-up.spec.ts'], {
      ...{ SITE: site.url, RESULTS: folder },
      CHROMIUM_PATH: launchOptions.executablePath ?? '',
    });
    const { stats } = JSON.parse(told) as { stats: object };
    expect(stats).toMatchObject({ expected: 1, unexpected: 0, flaky: 0, skipped: 0 });
  });
});

const signUp = (page: Page) => page.getByRole('button').click();
const rows = [
  { type: 'identify', body: { project: 'p', user_id: 'user_1', properties: {} } },
  { type: 'event', body: { event: 'Signed Up', tags: { plan: 'pro' }, user_id: 'user_1' } },
];

test('rows are collected', async ({ page, service, site }) => {
  const sent = await collectRows(page);
  await page.goto(site.page('/', site.tagged({ flushInterval: 50 }, { body: SIGN_UP })));
  await signUp(page);
  await expect.poll(sent.rows).toMatchObject(rows);
  await page.evaluate(() => analytics.flush());
  expect(await page.evaluate(() => analytics.status().delivered)).toBe(2);
  expect(sent.rows()).toHaveLength(2);
  sent.clear();
  expect(sent.rows()).toEqual([]);
  // None was let through, and none is collected of another address.
  expect(await service.requests()).toEqual([]);
  const elsewhere = await collectRows(page, 'https://elsewhere.example');
  await signUp(page);
  await expect.poll(sent.rows).toHaveLength(2);
  expect(elsewhere.rows()).toEqual([]);
});

/** In the page, which stays: Playwright's routes do not see what a page sends as it really goes (Chromium). */
const pretendToGo = () => {
  Object.defineProperty(document, 'visibilityState', { get: () => 'hidden', configurable: true });
  dispatchEvent(new Event('pagehide'));
};

for (const [how, relay] of [
  ['on the same site', RELAY],
  ['on another', 'https://relay.example/a'],
] as const) {
  test(`rows that go through a relay ${how} are collected, from a beacon too`, async ({
    context,
    page,
    site,
  }) => {
    const sent = await collectRows(context);
    const kinds: string[] = [];
    context.on('request', (request) => {
      if (request.url().endsWith('/v1/batch')) kinds.push(request.resourceType());
    });
    const setup = { relay, baseUrl: undefined, token: undefined, flushInterval: 60_000 };
    await page.goto(site.page('/', site.tagged(setup, { body: SIGN_UP })));
    await signUp(page);
    await page.evaluate(() => analytics.flush());
    expect(sent.rows()).toMatchObject(rows);
    await page.evaluate(() => analytics.event('Last'));
    await page.evaluate(pretendToGo);
    await expect.poll(() => sent.events('Last')).toHaveLength(1);
    expect(kinds).toEqual(['fetch', 'ping']);
    expect(sent.rows()).toHaveLength(3);
  });
}
