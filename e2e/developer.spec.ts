import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Page } from '@playwright/test';
import { LOCAL, openForDeveloper, PUBLIC, SETUP } from './support/developer-page.js';
import { htmlPage, inline } from './support/html.js';
import { statusOf } from './support/status-of.js';
import { scriptTag, stubTag, taggedPage } from './support/tagged.js';
import { expect, test } from './support/test.js';

// That the words come, and where. What they say of which mistake stands in test/dev/.

const call = (page: Page, ...names: string[]) =>
  page.evaluate((names) => names.forEach((name) => analytics.event(name)), names);
const untilUnreachable = (page: Page) =>
  expect.poll(async () => (await statusOf(page)).paused).toBe('unreachable');

for (const origin of [LOCAL, PUBLIC]) {
  const isPublic = origin === PUBLIC;
  test(`${isPublic ? 'says nothing' : 'tells a developer once'} of wrong calls at ${origin}`, async ({
    page,
  }) => {
    const files: string[] = [];
    page.on('request', (request) => files.push(request.url()));
    const lines = await openForDeveloper(page, origin, { options: { ...SETUP, inspect: '' } });
    await page.keyboard.press('Control+Shift+Backquote');
    await call(page, '', '', '');
    await expect.poll(async () => (await statusOf(page)).dropped).toEqual({ 'invalid-call': 3 });
    await call(page, 'sent');
    await expect.poll(async () => (await statusOf(page)).delivered).toBe(1);
    const told = [
      /^warning: analytics-outbox: a call was dropped \(invalid-call\): `event`: wrong name: give the event's name first$/,
      /: give the event's name first \(2 more\)$/,
    ];
    await expect
      .poll(() => lines)
      .toEqual(isPublic ? [] : told.map((line): unknown => expect.stringMatching(line)));
    // Visitors' pages load none of it, whatever the tag says.
    if (isPublic) expect(files.filter((file) => /outbox-(dev|inspector)/.test(file))).toEqual([]);
  });
}

interface Mistake {
  html: string;
  make?: (page: Page) => Promise<unknown>;
  /** What a developer reads, in this order. */
  lines: RegExp[];
}

const MISTAKES: Record<string, Mistake> = {
  'a second tag': {
    html: htmlPage({
      head: stubTag() + scriptTag(SETUP) + scriptTag(SETUP),
    }),
    lines: [/outbox\.js is a second tag: leave it out$/],
  },
  'a global of another script': {
    html: taggedPage(SETUP, { head: inline('window.analytics = { mine: true, init() {} }') }),
    lines: [/^warning: .+window\.analytics is taken: use data-global, in the stub too$/],
  },
  'a policy that blocks the service, as a fact': {
    html: taggedPage(SETUP, {
      head: `<meta http-equiv="Content-Security-Policy" content="connect-src 'self'">`,
    }),
    make: async (page) => {
      await call(page, 'one');
      await untilUnreachable(page);
    },
    lines: [
      /the page's Content Security Policy blocks http:\/\/in\.example: add it to connect-src$/,
      /: add it to connect-src \(\d+ more\)$/,
    ],
  },
};

for (const [what, { html, make, lines: wanted }] of Object.entries(MISTAKES)) {
  test(`tells a developer of ${what}`, async ({ page, guest }) => {
    guest.allow(/analytics-outbox: /);
    const lines = await openForDeveloper(page, LOCAL, { html });
    await page.waitForFunction(() => 'init' in analytics);
    await make?.(page);
    await expect
      .poll(() => lines.filter((line) => line.includes('analytics-outbox: ')))
      .toEqual(wanted.map((line): unknown => expect.stringMatching(line)));
  });
}

test('does not miss an `init` that has come, with `disabled`', async ({ page }) => {
  await page.clock.install();
  const lines = await openForDeveloper(page, LOCAL, { options: {} });
  await call(page, 'one');
  await page.evaluate(() => analytics.init({ disabled: true }));
  await page.clock.fastForward(60_000);
  expect(lines).toEqual([]);
});

test('tells onError once that nothing answers, and says so to a developer', async ({ page }) => {
  let isDown = true;
  const lines = await openForDeveloper(page, LOCAL);
  await page.route('http://in.example/**', (route) =>
    isDown ? route.abort('connectionrefused') : route.fallback(),
  );
  await page.evaluate(() => {
    document.title = '';
    analytics.on('error', ({ kind }) => (document.title += `${kind} `));
  });
  await call(page, 'one');
  await untilUnreachable(page);
  await expect(page).toHaveTitle('unreachable ');
  // The next tries fail as well.
  for (let i = 0; i < 3; i++) {
    await page.evaluate(() => dispatchEvent(new Event('online')));
    await page.evaluate(() => analytics.flush());
  }
  await expect(page).toHaveTitle('unreachable ');
  const told = /: nothing answers at http:\/\/in\.example: .*address.*CORS.*blocker/;
  expect(lines).toEqual([expect.stringMatching(told)]);
  isDown = false;
  await page.evaluate(() => dispatchEvent(new Event('online')));
  await expect.poll(async () => (await statusOf(page)).delivered).toBe(1);
});

test('shows with `debug` a group for each record, at the usual level', async ({ page, guest }) => {
  guest.allow(/./);
  const lines = await openForDeveloper(page, PUBLIC, { options: { ...SETUP, debug: 'true' } });
  await call(page, 'one', 'two');
  await expect.poll(async () => (await statusOf(page)).delivered).toBe(2);
  const titles = () => lines.filter((line) => line.startsWith('startGroupCollapsed: ')).sort();
  const steps = ['one": delivered', 'one": record', 'two": delivered', 'two": record'];
  await expect
    .poll(titles)
    .toEqual(steps.map((step) => `startGroupCollapsed: analytics-outbox: event "${step}`));
  expect(lines.filter((line) => /^debug/.test(line))).toEqual([]);
  expect(lines.filter((line) => /^log: sent/.test(line))).toHaveLength(2);
  expect(lines.join()).not.toContain('token');
});

for (const [debug, files] of Object.entries({ false: [], no: ['outbox-dev.js'] }))
  test(`says nothing on a local host with \`data-debug="${debug}"\``, async ({ page, guest }) => {
    guest.allow(/./);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(basename(new URL(request.url()).pathname)));
    const lines = await openForDeveloper(page, LOCAL, { options: { ...SETUP, debug } });
    await call(page, '', 'two');
    await expect.poll(async () => (await statusOf(page)).delivered).toBe(1);
    expect(asked.filter((file) => file === 'outbox-dev.js')).toEqual(files);
    expect(lines).toEqual([]);
  });

for (const [condition, title, told] of [
  ['development', /`projekt` .+ does not exist: did you mean `project`/, /no method `track`/],
  ['default', 'analytics-outbox: wrong or missing: projekt', undefined],
] as const) {
  test(`tells who imports the package under the condition \`${condition}\` ${told ? 'the same' : 'nothing'}`, async ({
    page,
  }) => {
    const manifest = JSON.parse(
      readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
    ) as { exports: { '.': { import: Record<string, string> } } };
    const entry = manifest.exports['.'].import[condition]!.replace('./dist/', '');
    const head = `<script type="module">
import { createAnalytics } from '/dist/${entry}';
const setup = ${JSON.stringify(SETUP)};
createAnalytics(setup).track;
try { createAnalytics({ ...setup, projekt: 'p' }); } catch ({ message }) { document.title = message; }
</script>`;
    const lines = await openForDeveloper(page, PUBLIC, { html: htmlPage({ head }) });
    await expect(page).toHaveTitle(title);
    expect(lines).toEqual(told ? [expect.stringMatching(told)] : []);
  });
}
