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

const line = (page: Page): Locator => page.locator('#line');
const lost = (page: Page, lane: string): Locator => page.locator(`.lane.${lane} .lost`);
const rest = (page: Page, lane: string): Locator => page.locator(`.lane.${lane} .rest`);
const scene = (page: Page, id: string): Locator => page.locator(`[data-scene=${id}]`);
const heal = (page: Page): Locator => page.getByRole('button', { name: 'Heal', exact: true });
const fold = (page: Page, name: string): Locator => page.locator('summary', { hasText: name });

/** The tour begins by itself, the first time. */
const skipTour = async (page: Page): Promise<void> => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.addInitScript(() => {
    if (location.host) localStorage.setItem('demo seen', 'yes'); // about:blank has no storage
  });
};

const open = async (page: Page, url: string): Promise<void> => {
  await skipTour(page);
  await page.goto(url);
  await expect(line(page)).toHaveText('All is well. Break it.');
};

const SENTENCE = (called: number, without: number): string =>
  `${called} called · 0 lost · ${without} lost without`;

/** The service's own rows have each click once by the outbox, and the others as often as the page says. */
const expectCounted = async (
  page: Page,
  demo: RunningDemo,
  { called, without }: { called: number; without: number },
): Promise<void> => {
  // The page itself waits up to 75 s for the last row, which takes long where the server has no time.
  await expect(line(page)).toHaveText(SENTENCE(called, without), { timeout: 90_000 });
  await expect(rest(page, 'with')).toHaveText(`${called} stored`);
  const events = await eventsOf(demo);
  const idsOf = (lane: string) =>
    events.filter(({ tags }) => tags['demo_lane'] === lane).map(({ tags }) => tags['demo_id']);
  expect(idsOf('with')).toHaveLength(called);
  expect(new Set(idsOf('with')).size).toBe(called);
  expect(new Set(idsOf('without')).size).toBe(called - without);
};

/** Nothing of the page stands beside the window. */
const isNarrow = (): boolean => document.documentElement.scrollWidth <= innerWidth;

/** Sizes of a desktop, a tablet and a phone. */
const SIZES = [
  { width: 1440, height: 900 },
  { width: 820, height: 1180 },
  { width: 390, height: 844 },
];

test('plays the tour by itself the first time: 58 clicks are lost without the outbox, and none with it @nightly', async ({
  page,
  demo,
}) => {
  await page.goto(demo.url);
  const results = { down: 30, leave: 0, close: 10, offline: 18, burst: 0 };
  for (const [id, without] of Object.entries(results)) {
    await expect(scene(page, id), id).toHaveAttribute('aria-pressed', 'true');
    await expect(scene(page, id), id).toHaveAttribute('aria-pressed', 'false');
    await expect(scene(page, id), id).toContainText(`${without} lost · with: 0`);
  }
  await expect(page.getByRole('button', { name: 'Play all' })).toBeVisible();
  await expectCounted(page, demo, { called: 160, without: 58 });
  for (const [lane, verdicts] of Object.entries({
    without: { stored: 102, lost: 58 },
    with: { stored: 160, lost: 0 },
  }))
    for (const [verdict, count] of Object.entries(verdicts))
      await expect(page.locator(`.lane.${lane} [data-verdict=${verdict}]`)).toHaveCount(count);
  await page.reload();
  await expect(line(page)).toHaveText('All is well. Break it.');
});

test('begins the tour with what is lost, and shows the end alone where motion is unwelcome', async ({
  page,
  demo,
}) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto(demo.url);
  await expect(lost(page, 'without')).toHaveText('30 lost');
  await expect(scene(page, 'down')).toContainText('30 lost · with: 0');
  await expect(page.locator('.dots i')).toHaveCount(0);
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(page.locator('.lane.without .dots [data-verdict=lost]')).not.toHaveCount(0);
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
  await expect(scene(page, 'down')).toHaveAttribute('aria-pressed', 'true');
  await expect(lost(page, 'without')).not.toHaveText('0 lost');
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(line(page)).toHaveText(/^(\d+) called · 0 lost · [1-9]\d* lost without$/);
  await expect(rest(page, 'with')).toHaveText(/^\d+ stored$/);
  await expect(scene(page, 'down')).toHaveAttribute('aria-pressed', 'false');
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
  await expectCounted(page, demo, { called: 50, without: 0 });
});

// That no file of the page has the token stands in test/demo/site/start-demo.test.ts.
test('delivers through the relay, many records a request @firefox', async ({ page, demo }) => {
  const sent: [url: string, records: number][] = [];
  page.on('response', (response) => {
    if (!response.url().endsWith('/v1/batch')) return;
    const { records } = response.request().postDataJSON() as { records: unknown[] };
    sent.push([response.url(), records.length]);
  });
  await open(page, demo.url);
  await fold(page, 'Options').click();
  await page.getByRole('link', { name: /through a relay/ }).click();
  await scene(page, 'burst').click();
  await expectCounted(page, demo, { called: 50, without: 0 });
  expect(new Set(sent.map(([url]) => url))).toEqual(new Set([`${demo.url}/a/v1/batch`]));
  // After a request that failed, as on a loaded machine, the next ones begin with few.
  expect(Math.max(...sent.map(([, records]) => records))).toBeGreaterThan(10);
});

/** What each scene ends with: lost without the outbox, and what the outbox has. */
const RESULTS: Readonly<Record<string, [without: string | RegExp, withIt: string]>> = {
  tabs: ['0 lost', '30 stored'],
  refuse: ['1 lost', '9 stored · 1 dropped'],
  'lost-answer': ['0 lost', '10 stored'],
  outbox: ['0 lost', '10 stored'],
  wrong: ['3 lost', '0 stored · 3 dropped'],
};
const SLOW_RESULTS: typeof RESULTS = {
  limit: ['1 lost', '10 stored'],
  error: ['4 lost', '10 stored'],
  slow: ['0 lost', '5 stored'],
  crash: ['10 lost', '10 stored'],
};
for (const [form, speed, results] of [
  ['direct', 'quick', RESULTS],
  ['direct', 'slow @nightly', SLOW_RESULTS],
  // A relay whose server asks for patience asks its pages for it, too.
  ['relay', 'all @nightly', { ...RESULTS, ...SLOW_RESULTS, limit: [/^[1-9] lost$/, '10 stored'] }],
] as const) {
  test(`loses nothing with the outbox in any scene, ${form}: ${speed}`, async ({ page, demo }) => {
    test.slow();
    await open(page, form === 'relay' ? `${demo.url}/relay` : demo.url);
    for (const [id, [without, withIt]] of Object.entries(results)) {
      await scene(page, id).click();
      await expect(line(page), id).toHaveText(/^\d+ called · 0 lost · \d+ lost without$/);
      await expect(lost(page, 'without'), id).toHaveText(without);
      await expect(lost(page, 'with'), id).toHaveText('0 lost');
      await expect(rest(page, 'with'), id).toHaveText(withIt);
    }
  });
}

test('stores a repeat twice where keys are turned off, and says so', async ({ page, demo }) => {
  await open(page, demo.url);
  await fold(page, 'Options').click();
  await page.getByLabel(/idempotencyKey/).uncheck();
  await scene(page, 'lost-answer').click();
  await expect(rest(page, 'with')).toHaveText('10 stored · 1 of them twice');
});

test('keeps what a refused token or a dead network holds up, until the server is healed', async ({
  page,
  demo,
}) => {
  await open(page, demo.url);
  for (const [id, words] of Object.entries({
    token: 'The server refuses the token until you heal it.',
    unplug: 'Every connection breaks until you heal it.',
  })) {
    await scene(page, id).click();
    await expect(line(page)).toHaveText(words);
    await expect(lost(page, 'without')).toHaveText('10 lost');
    await expect(page.locator('.next')).toContainText('Next try in');
    await expect(rest(page, 'with')).toHaveText('0 stored · 10 on the way');
    await heal(page).click();
    await expect(line(page)).toHaveText(SENTENCE(10, 10));
    await expect(heal(page)).toBeHidden();
  }
});

test('shows the stage and the scenes of the tour without scrolling, while something is broken', async ({
  page,
  demo,
}) => {
  await open(page, demo.url);
  await scene(page, 'offline').click();
  await expect(line(page)).toHaveText('No network. 18 clicks meanwhile.');
  for (const size of SIZES) {
    await page.setViewportSize(size);
    await page.evaluate(() => scrollTo(0, 0));
    for (const seen of ['h1', '.cards', '.line', '.lane.without', '.lane.with', '.browser'])
      await expect(page.locator(seen), `${seen}, ${size.width}`).toBeInViewport({ ratio: 1 });
    expect(await page.evaluate(isNarrow)).toBe(true);
  }
});

test('begins each scene afresh, however fast the presses come, and leaves other senders’ rows', async ({
  page,
  context,
  demo,
  site,
}) => {
  const printed = announcementOf(demo, { host: undefined, database: 'x.db' });
  const [tag] = /<script [^]*?<\/script>/.exec(printed)!;
  const own = await context.newPage();
  await own.goto(
    site.page('/', htmlPage({ head: tag, body: inline(`analytics.event('From My Page')`) })),
  );
  await expect.poll(() => eventsOf(demo)).toHaveLength(1);
  await own.close(); // or it would keep the demo in the background
  await open(page, demo.url);
  await fold(page, 'Tag to copy').click();
  await expect(page.locator('.snippet')).toContainText(tag.replaceAll('127.0.0.1', 'localhost'));
  await scene(page, 'token').click();
  await expect(lost(page, 'without')).toHaveText('10 lost');
  await page.evaluate(() => {
    for (let i = 0; i < 5; i++) document.querySelector<HTMLElement>('[data-scene=burst]')!.click();
  });
  await expectCounted(page, demo, { called: 50, without: 0 });
  await page.getByRole('button', { name: 'Delete what this demo has stored' }).click();
  await expect
    .poll(async () => (await eventsOf(demo)).map(({ event }) => event))
    .toEqual(['From My Page']);
});

test('sends by keyboard an event with tags', async ({ page, demo }) => {
  await open(page, demo.url);
  await page.getByLabel('Name', { exact: true }).fill('');
  await page.getByLabel('Tags').fill('{ plan: pro }');
  await page.getByRole('button', { name: 'Send event' }).press('Enter');
  await expect(page.getByLabel('Name', { exact: true })).toBeFocused();
  await expect(page.getByLabel('Tags')).toHaveAccessibleDescription(/Write a JSON object/);
  await expect(line(page)).toHaveText('All is well. Break it.');

  await page.keyboard.insertText('Plan Changed');
  await page.getByLabel('Tags').fill('{ "plan": "team" }');
  await page.keyboard.press('Enter');
  await expectCounted(page, demo, { called: 1, without: 0 });
  const [sent] = await eventsOf(demo);
  expect(sent).toMatchObject({ event: 'Plan Changed', channel: 'web', tags: { plan: 'team' } });
});

test('counts clicks in the page, follows consent and identity, and shows log and inspector', async ({
  page,
  demo,
}) => {
  await open(page, demo.url);
  await fold(page, 'Identify').click();
  await page.getByRole('button', { name: 'Identify', exact: true }).click();
  await page.frameLocator('iframe').getByRole('button', { name: 'Buy' }).click();
  await expect(rest(page, 'with')).toHaveText('2 stored');
  await expect(rest(page, 'without')).toHaveText('2 stored');
  const placed = (await eventsOf(demo)).find(({ tags }) => tags['demo_lane'] === 'with');
  expect(placed).toMatchObject({
    ...{ event: 'Order Placed', user_id: 'user_1', idempotency_key: expect.any(String) },
  });
  await expect(page.locator('.log')).toContainText(/with\s*200\s*taken/);

  await fold(page, 'Inspector').click();
  await expect(page.locator('analytics-outbox-inspector')).toContainText(/delivered2/);

  await fold(page, 'Consent').click();
  await page.getByLabel(/denied/).check();
  await expect(line(page)).toHaveText('Consent is denied: clicks are dropped.');
  await fold(page, 'Event').click();
  await page.getByRole('button', { name: 'Send event' }).click();
  await expect(rest(page, 'with')).toHaveText('2 stored · 1 dropped');
  await expect(page.locator('.log')).toContainText('consent-denied');
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
  await scene(page, 'unplug').click();
  await expect(page.locator('.next')).toContainText('Next try in');
  await expectNothing();
  await heal(page).click();
  await expect(line(page)).toHaveText(SENTENCE(10, 10));
  await page.setViewportSize({ width: 390, height: 844 });
  for (const name of ['Identify', 'Consent', 'Options', 'Tag to copy']) {
    await fold(page, name).click();
    await expectNothing();
  }
  for (const path of ['/README.md', '/docs/limits.md']) {
    await page.goto(demo.url + path);
    expect(await page.evaluate(isNarrow), path).toBe(true);
  }
  await expectNothing();
});
