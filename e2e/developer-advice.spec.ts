import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { openForDeveloper, PUBLIC, SETUP } from './support/developer-page.js';
import { htmlPage } from './support/html.js';
import { scriptTag, stubTag, taggedPage, type TagStyle } from './support/tagged.js';
import { expect, test } from './support/test.js';

const HOST = 'http://shop.test';
const RELAY = { relay: '/a', project: 'p', channel: 'c' };

/** Two tags under one stub. */
const twoTags = (...tags: string[]): string => htmlPage({ head: [stubTag(), ...tags].join('\n') });
const tagOf = (file: string, options: object = SETUP): string =>
  scriptTag({ ...options }, { src: `/dist/${file}` });

const policy = (sources: string): TagStyle => ({
  head: `<meta http-equiv="Content-Security-Policy" content="connect-src ${sources}">`,
});

interface Mistake {
  html?: string;
  origin?: string;
  make?: (page: Page) => Promise<unknown>;
  /** What a developer reads, in this order. */
  lines: RegExp[];
}

const MISTAKES: Record<string, Mistake> = {
  'a second tag': {
    html: twoTags(tagOf('outbox.js'), tagOf('outbox.js')),
    lines: [/two tags, outbox\.js and outbox\.js: only the first works; leave one out$/],
  },
  '`type="module"` on the tag': {
    html: taggedPage(SETUP, { attributes: 'type="module"' }),
    lines: [/the tag has `type="module"`: leave it out$/],
  },
  'an http service on an https page': {
    origin: 'https://shop.test',
    lines: [/the browser blocks http:\/\/in\.example, .*give an https address$/],
  },
  'a policy that blocks the service, as a fact': {
    html: taggedPage(SETUP, policy(`'self'`)),
    make: async (page) => {
      await page.evaluate(() => analytics.event('one'));
      await expect
        .poll(() => page.evaluate(() => analytics.status().paused), { timeout: 30_000 })
        .toBe('unreachable');
    },
    lines: [
      /the page's Content Security Policy blocks http:\/\/in\.example: add it to connect-src$/,
      /: add it to connect-src \(\d+ more\)$/,
    ],
  },
  'no policy that blocks another file of the origin of its relay': {
    html: taggedPage(RELAY, {
      head: `<meta http-equiv="Content-Security-Policy" content="img-src 'none'">`,
    }),
    make: (page) =>
      page.evaluate(
        () =>
          new Promise((blocked) => {
            document.addEventListener('securitypolicyviolation', blocked);
            document.body.append(Object.assign(new Image(), { src: '/photo.png' }));
          }),
      ),
    lines: [],
  },
};

for (const [what, { html, origin = HOST, make, lines: wanted }] of Object.entries(MISTAKES)) {
  test(`tells a developer of ${what}`, async ({ page, guest }) => {
    guest.allow(/^console\.error: (analytics-outbox: |Mixed Content)/);
    const lines = await openForDeveloper(page, origin, html === undefined ? {} : { html });
    await page.waitForFunction(() => 'init' in analytics);
    await make?.(page);
    await expect
      .poll(() => lines.filter((line) => line.includes('analytics-outbox: ')))
      .toEqual(wanted.map((line): unknown => expect.stringMatching(line)));
  });
}

test('names a wrong option of the tag in production, too', async ({ page, guest }) => {
  guest.allow(/^console\.error: analytics-outbox: /);
  const options = { ...SETUP, flushAt: 'many' };
  const lines = await openForDeveloper(page, PUBLIC, { options });
  await expect.poll(() => lines).toEqual(['error: analytics-outbox: wrong or missing: flushAt']);
});

test("names the developers' file where it is missing", async ({ page, guest }) => {
  const named = /error: TypeError: .+\/outbox-dev\.js/;
  guest.allow(/outbox-dev\.js/);
  const lines = await openForDeveloper(page, HOST, { missing: 'outbox-dev.js' });
  await expect.poll(() => lines).toEqual([expect.stringMatching(named)]);
});

/** What people try who know another tool, and what they are told to write. */
const TRIED = {
  track: "write `event('Name', { … })`",
  page: "write `event('Name', { … })`",
  capture: "write `event('Name', { … })`",
  ready: 'call the methods at once, since calls are kept',
  user: 'read `status().userId`',
};

test('tells a developer what to write in place of methods of other tools', async ({ page }) => {
  const lines = await openForDeveloper(page, HOST);
  const tryAll = () =>
    page.evaluate((names) => {
      for (const name of names) void (analytics as unknown as Record<string, unknown>)[name];
    }, Object.keys(TRIED));
  await expect
    .poll(async () => {
      await tryAll();
      return lines.filter((line) => !/more\)$/.test(line));
    })
    .toEqual(
      Object.entries(TRIED).map(
        ([name, instead]) =>
          `warning: analytics-outbox: there is no method \`${name}\`: ${instead}`,
      ),
    );
});

test('tells nothing of what the policy blocks of others', async ({ page }) => {
  const html = taggedPage(SETUP, policy(`'self' http://in.example`));
  const lines = await openForDeveloper(page, HOST, { html });
  const others = ['http://in.example.other.example/', 'http://in.example:8080/'];
  await page.evaluate(async (others) => {
    let blocked = 0;
    const all = new Promise<void>((done) => {
      addEventListener('securitypolicyviolation', () => {
        if (++blocked === others.length) done();
      });
    });
    for (const other of others) fetch(other).catch(() => undefined);
    await all;
    analytics.event('one');
    await analytics.flush();
  }, others);
  expect(lines).toEqual([]);
});

/** The file that a bundler takes under these conditions. */
const entryOf = (condition: 'development' | 'default'): string => {
  const { exports } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  ) as { exports: { '.': { import: Record<string, string> } } };
  return exports['.'].import[condition]!.replace('./dist/', '');
};

/** A page that imports the entry, makes some mistakes, and shows what `init` has thrown. */
const importing = (entry: string): string =>
  htmlPage({
    head: `<script type="module">
import { createAnalytics } from '/dist/${entry}';
const setup = ${JSON.stringify(SETUP)};
const outbox = createAnalytics(setup);
outbox.event('Order Placed', { tags: { n: 1n } });
outbox.track;
outbox.init({ ...setup, project: 'other' });
try { createAnalytics({ ...setup, projekt: 'p' }); } catch ({ message }) { document.title = message; }
</script>`,
  });

const openImporting = (page: Page, entry: string): Promise<string[]> =>
  openForDeveloper(page, PUBLIC, { html: importing(entry) });

test('tells the same to who imports the package under the condition `development`', async ({
  page,
}) => {
  const lines = await openImporting(page, entryOf('development'));
  await expect(page).toHaveTitle(/`projekt` .+ does not exist: did you mean `project`/);
  expect(lines).toEqual([
    expect.stringMatching(/: `tags\.n` of `Order Placed`: BigInt: give what JSON can hold$/),
    expect.stringMatching(/: there is no method `track`: write `event\('Name'/),
    expect.stringMatching(/: `init` again, for project other at/),
  ]);
});

test('tells nothing to who imports the package otherwise', async ({ page }) => {
  const lines = await openImporting(page, entryOf('default'));
  await expect(page).toHaveTitle('analytics-outbox: wrong or missing: projekt');
  expect(lines).toEqual([]);
});
