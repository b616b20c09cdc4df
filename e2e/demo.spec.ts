import type { Locator, Page } from '@playwright/test';
import { join } from 'node:path';
import { announcementOf } from '../demo/site/main.js';
import { startDemo, type RunningDemo } from '../demo/site/start-demo.js';
import { axeFinds, COLOURS } from './support/axe.js';
import { htmlPage, inline } from './support/html.js';
import type { StoredEvent } from './support/service.js';
import { test as base, expect } from './support/test.js';

const anyPort = { port: 0, nextFree: false };

const test = base.extend<{ demo: RunningDemo }>({
  demo: [
    async ({ folder }, use) => {
      const database = join(folder, 'demo.db');
      const demo = await startDemo({ page: anyPort, service: anyPort, database, token: 'a-token' });
      await use(demo);
      await demo.close();
    },
    // Begun before the page, and so ended after it: a page whose service is gone complains on the console.
    { auto: true },
  ],
});

const eventsOf = async ({ service }: RunningDemo): Promise<StoredEvent[]> => {
  const response = await fetch(`${service.url}/_/events`);
  return ((await response.json()) as { events: StoredEvent[] }).events;
};

const sentence = (page: Page): Locator => page.locator('#sentence');
const reason = (page: Page): Locator => page.locator('.stage .reason p');
const scene = (page: Page, id: string): Locator => page.locator(`[data-scene=${id}]`);
const result = (page: Page, id: string): Locator => scene(page, id).locator('em');
const tab = (page: Page, name: string): Locator => page.getByRole('tab', { name, exact: true });
const heal = (page: Page): Locator =>
  page.getByRole('button', { name: 'Heal the service', exact: true });

/** The tour begins by itself, the first time, where motion is welcome. */
const skipTour = (page: Page): Promise<void> => page.emulateMedia({ reducedMotion: 'reduce' });

const open = async (page: Page, url: string): Promise<void> => {
  await skipTour(page);
  await page.goto(url);
  await expect(reason(page)).toHaveText('The service is well.');
};

/** The service's own rows have each of so many calls once, and the page says so. */
const expectOnce = async (page: Page, demo: RunningDemo, wanted: number): Promise<void> => {
  await expect(sentence(page)).toHaveText(`${wanted} called = ${wanted} stored once`);
  const ids = (await eventsOf(demo)).map(({ tags }) => tags['demo_id']);
  expect(new Set(ids).size).toBe(ids.length);
};

/** Nothing of the page stands beside the window. */
const isNarrow = (): boolean => document.documentElement.scrollWidth <= innerWidth;

/** Sizes of a desktop, a tablet and a phone. */
const SIZES = [
  { width: 1440, height: 900 },
  { width: 820, height: 1180 },
  { width: 390, height: 844 },
];

test('plays the tour by itself the first time, and each call of it is stored once @nightly', async ({
  page,
  demo,
}) => {
  await page.goto(demo.url);
  const ids = ['burst', 'down', 'leave', 'crash', 'offline'];
  for (const id of ids) await expect(result(page, id)).toHaveText(/^(\d+) of \1, /);
  await expect(page.getByRole('button', { name: 'Take the tour' })).toBeVisible();
  await expectOnce(page, demo, 160);
  expect(await eventsOf(demo)).toHaveLength(160);
  for (const station of [/^Page 160/, /^Outbox 0/, /^Wire 0/, /^Service 160/])
    await expect(page.locator('.station', { hasText: station })).toBeVisible();
  await expect(page.locator('.dots i[data-tone=stored]')).toHaveCount(160);
  await page.reload();
  await expect(sentence(page)).toHaveText('Nothing called yet');
});

test('shows the whole page in the frame at any width', async ({ page, demo }) => {
  await open(page, demo.url);
  const inside = page.frameLocator('iframe').first();
  for (const width of [1440, 1024, 900, 820, 720, 660, 390, 320]) {
    await page.setViewportSize({ width, height: 900 });
    await expect(inside.getByRole('link', { name: 'Leave' })).toBeVisible();
    const hidden = await inside
      .locator('html')
      .evaluate(({ scrollHeight, scrollWidth }) => [
        Math.max(0, scrollHeight - innerHeight),
        Math.max(0, scrollWidth - innerWidth),
      ]);
    expect.soft(hidden, `below and beside, at ${width}`).toEqual([0, 0]);
  }
});

test('stops the tour where it is, and delivers what waits', async ({ page, demo }) => {
  await page.goto(demo.url);
  await expect(scene(page, 'down')).toHaveClass(/playing/);
  await expect(reason(page)).toContainText('The service answers 503. Next attempt in ');
  await page.getByRole('button', { name: 'Stop the tour' }).click();
  await expectOnce(page, demo, 100);
  await expect(scene(page, 'down')).not.toHaveClass(/playing/);
});

test('opens under its strict policy without a word in the console @firefox', async ({
  page,
  demo,
}) => {
  await skipTour(page);
  const response = await page.goto(`http://localhost:${demo.port}`);
  const policy = response?.headers()['content-security-policy'];
  expect(policy).toContain(`connect-src 'self' http://localhost:${demo.service.port};`);
  expect(policy).toMatch(/script-src 'self' 'nonce-[^']+';/);
  await scene(page, 'burst').click();
  await expectOnce(page, demo, 50);
});

// That no file of the page has the token stands in test/demo/site/start-demo.test.ts.
test('delivers through the relay, many records a request @firefox', async ({ page, demo }) => {
  const batches: string[] = [];
  page.on('response', (response) => {
    if (response.url().endsWith('/v1/batch')) batches.push(response.url());
  });
  await open(page, `${demo.url}/relay`);
  await scene(page, 'burst').click();
  await expectOnce(page, demo, 50);
  expect(new Set(batches)).toEqual(new Set([`${demo.url}/a/v1/batch`]));
  expect(batches.length).toBeLessThan(5);
});

/** What every scene beside those of the tour says that it came to; through the relay where that differs. */
const RESULTS: Readonly<Record<string, RegExp | [direct: RegExp, relay: RegExp]>> = {
  tabs: /^30 of 30, in /,
  refuse: /^9 of 10, 1 dropped, in /,
  'lost-answer': [/^9 of 10, 1 twice, in /, /^10 of 10, in /],
  outbox: /^10 of 10, in /,
  wrong: /^3 of 3 dropped$/,
};
const SLOW_RESULTS: typeof RESULTS = {
  limit: /^10 of 10, in ([5-9]|1\d)\.\d s$/,
  error: /^10 of 10, in /,
  slow: /^5 of 5, in [2-9]\.\d s$/,
};
for (const [form, speed, results] of [
  ['direct', 'quick', RESULTS],
  ['direct', 'slow @nightly', SLOW_RESULTS],
  ['relay', 'all @nightly', { ...RESULTS, ...SLOW_RESULTS }],
] as const) {
  test(`says what each scene came to, ${form}: ${speed}`, async ({ page, demo }) => {
    const isRelay = form === 'relay';
    await open(page, isRelay ? `${demo.url}/relay` : demo.url);
    await page.getByRole('button', { name: 'More …' }).click();
    for (const [id, wanted] of Object.entries(results)) {
      await scene(page, id).click();
      const words = Array.isArray(wanted) ? wanted[isRelay ? 1 : 0] : wanted;
      await expect(result(page, id), id).toHaveText(words!);
    }
    await expect(page.getByText('0 lost · 0 twice', { exact: true })).toBeVisible();
  });
}

test('keeps what a refused token or a dead network holds up, and shows it without scrolling, until the service is healed', async ({
  page,
  demo,
}) => {
  await open(page, demo.url);
  await page.getByRole('button', { name: 'More …' }).click();
  for (const [id, words] of Object.entries({
    token: 'The service refuses the token (401).',
    unplug: 'The service does not answer.',
  })) {
    await page.setViewportSize(SIZES[0]!);
    await scene(page, id).click();
    await expect(reason(page)).toContainText(words);
    await expect(reason(page)).toContainText('Next attempt in');
    await expect(sentence(page)).toHaveText('10 called = 0 stored once + 10 on the way');
    for (const size of SIZES) {
      await page.setViewportSize(size);
      await page.evaluate(() => scrollTo(0, 0));
      for (const seen of ['#sentence', '.tour', '.way', '.caption', '.reason'])
        await expect(page.locator(seen), `${seen}, ${size.width}`).toBeInViewport({ ratio: 1 });
      await expect(heal(page)).toBeInViewport({ ratio: 1 });
      expect(await page.evaluate(isNarrow)).toBe(true);
    }
    await heal(page).click();
    await expect(result(page, id)).toHaveText(/^10 of 10, in /);
  }
});

test('begins each scene afresh, however fast the presses come, and leaves other senders’ rows', async ({
  page,
  context,
  guest,
  demo,
  site,
}) => {
  guest.allow(/nothing is captured locally/); // an automated browser
  const printed = announcementOf(demo, { host: undefined, database: 'x.db' });
  const [tag] = /<script [^]*?<\/script>/.exec(printed)!;
  const own = await context.newPage();
  await own.goto(
    site.page('/', htmlPage({ head: tag, body: inline(`analytics.event('From My Page')`) })),
  );
  await expect.poll(() => eventsOf(demo)).toHaveLength(1);
  await own.close(); // or it would keep the demo in the background
  await open(page, demo.url);
  await tab(page, 'Tag to copy').click();
  await expect(page.getByRole('tabpanel').first()).toContainText(
    tag.replaceAll('127.0.0.1', 'localhost'),
  );
  await tab(page, 'Rows').click();
  await expect(page.locator('.rows-list')).toContainText('From My Page');
  await page.getByRole('button', { name: 'More …' }).click();
  await scene(page, 'token').click();
  await expect(reason(page)).toContainText('Next attempt in');
  await page.evaluate(() => {
    for (let i = 0; i < 5; i++) document.querySelector<HTMLElement>('[data-scene=burst]')!.click();
  });
  await expectOnce(page, demo, 50);
  await expect(result(page, 'token')).toHaveText('Play'); // it was not played to its end
  await page.getByRole('button', { name: 'Delete what this demo has stored' }).click();
  await expect(page.locator('.rows-list li')).toHaveCount(1);
  expect((await eventsOf(demo)).map(({ event }) => event)).toEqual(['From My Page']);
});

test('sends by keyboard an event with every field, and opens its row in place', async ({
  page,
  demo,
}) => {
  await open(page, demo.url);
  await page.getByLabel('Name', { exact: true }).fill('');
  await page.getByLabel('Tags').fill('{ plan: pro }');
  await page.keyboard.press('Tab');
  await page.getByRole('button', { name: 'Send event' }).press('Enter');
  await expect(page.getByLabel('Name', { exact: true })).toBeFocused();
  await expect(page.getByLabel('Tags')).toHaveAccessibleDescription(/Write a JSON object/);
  await expect(sentence(page)).toHaveText('Nothing called yet');

  await page.keyboard.insertText('Plan Changed');
  await page.getByLabel('Tags').fill('{ "plan": "team" }');
  await page.getByText('More fields').press('Enter');
  await page.getByLabel('Channel').fill('growth');
  await page.getByLabel('Another user').fill('user_7');
  await page.getByLabel('Time, if not now').fill('2026-01-02T03:04:05');
  await page.getByLabel('Notify').press('Space');
  await page.getByLabel('Description').fill('by keyboard');
  await page.keyboard.press('Enter');
  await expectOnce(page, demo, 1);
  expect(await eventsOf(demo)).toMatchObject([
    {
      ...{ event: 'Plan Changed', channel: 'growth', icon: '🎉', description: 'by keyboard' },
      ...{ tags: { plan: 'team' }, user_id: 'user_7', notify: true },
      timestamp: await page.evaluate(() => new Date('2026-01-02T03:04:05').toISOString()),
    },
  ]);
  await tab(page, 'Records').press('ArrowRight');
  await expect(tab(page, 'Rows')).toBeFocused();
  await page.getByRole('button', { name: /Plan Changed/ }).press('Enter');
  await expect(page.locator('.rows-list .details')).toContainText('by the browser’s clock');
});

test('follows consent, identity, options and clicks in the page, and shows its inspector', async ({
  page,
  demo,
}) => {
  await open(page, demo.url);
  await tab(page, 'Identify').click();
  await page.getByRole('button', { name: 'Identify', exact: true }).click();
  await expect(page.getByText(/^Called identify “user_1” as /)).toBeVisible();
  await page.frameLocator('iframe').getByRole('button', { name: 'Buy' }).click();
  await expect(sentence(page)).toHaveText('2 called = 2 stored once');
  expect(await eventsOf(demo)).toMatchObject([{ event: 'Order Placed', user_id: 'user_1' }]);

  await tab(page, 'Options').click();
  await page.getByLabel(/Idempotency keys/).check();
  await page.getByLabel(/Auto-capture/).check();
  await expect(sentence(page)).toHaveText('3 called = 3 stored once'); // the page view
  const [, view] = await eventsOf(demo);
  expect(view).toMatchObject({ idempotency_key: expect.any(String) });

  await tab(page, 'Inspector').click();
  await expect(page.locator('analytics-outbox-inspector')).toContainText(/delivered1/);

  await tab(page, 'Consent').click();
  await page.getByLabel(/denied/).check();
  await expect(reason(page)).toHaveText('Consent is denied: calls are dropped.');
  await tab(page, 'Event').click();
  await page.getByRole('button', { name: 'Send event' }).click();
  await expect(page.getByText('“Signed Up” was dropped: consent-denied.')).toBeVisible();
});

test('has nothing for axe to find, light and dark', async ({ page, demo, guest }) => {
  guest.allowGlobals('axe', '__core-js_shared__'); // axe's own
  const expectNothing = async (): Promise<void> => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      const rules = colorScheme === 'light' ? {} : { rules: COLOURS };
      expect(await axeFinds(page, rules), colorScheme).toEqual([]);
    }
  };
  await open(page, demo.url);
  await scene(page, 'down').click();
  await expect(reason(page)).toContainText('Next attempt in');
  await expectNothing();
  await expect(result(page, 'down')).toHaveText(/^50 of 50/);
  await page.setViewportSize({ width: 390, height: 844 });
  for (const name of ['Identify', 'Consent', 'Options', 'Tag to copy', 'Rows', 'Log', 'status()'])
    await tab(page, name).click();
  await tab(page, 'Rows').click();
  await page.locator('.rows-list button').first().click();
  await expectNothing();
  for (const path of ['/README.md', '/docs/limits.md']) {
    await page.goto(demo.url + path);
    expect(await page.evaluate(isNarrow), path).toBe(true);
  }
  await expectNothing();
});
