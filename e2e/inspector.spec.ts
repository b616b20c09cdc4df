import type { Locator, Page } from '@playwright/test';
import { axeFinds, COLOURS } from './support/axe.js';
import { expect, test } from './support/test.js';

const KEY = 'Control+Shift+Backquote';

const panel = (page: Page): Locator => page.getByRole('region', { name: 'Inspector of analytics' });
const line = (page: Page, name: string): Locator => panel(page).getByRole('button', { name });
const call = (page: Page, name: string) => page.evaluate((name) => analytics.event(name), name);
const choose = (page: Page, tab: string) => panel(page).getByRole('tab', { name: tab }).click();

test('opens by its key, closes by Escape, and gives the focus back @firefox', async ({
  page,
  site,
}) => {
  site.page('/', site.tagged({}, { body: '<button>Buy</button>' }));
  await page.goto(site.url + '/');
  const buy = page.getByRole('button', { name: 'Buy' });
  await buy.focus();
  await expect(async () => {
    await page.keyboard.press(KEY);
    await expect(panel(page)).toBeFocused({ timeout: 1_000 });
  }).toPass();
  await page.keyboard.press('Escape');
  await expect(panel(page)).toHaveCount(0);
  await expect(buy).toBeFocused();
});

test('opens by the attribute of the tag; shows a record that waits, why and until when, and its delivery, and never the token', async ({
  page,
  site,
  service,
}) => {
  site.page('/', site.tagged({ inspect: '' }));
  await service.faults([{ status: 503 }]);
  await page.goto(`${site.url}/`);
  await expect(panel(page)).toBeVisible();
  await call(page, 'Order Placed');
  await expect(panel(page).getByText(/^The last answer was 503/)).toBeVisible();
  await expect(line(page, 'Order Placed')).toContainText(/503, again in \d\.\d s/);
  await choose(page, 'If I close now');
  await expect(panel(page)).toContainText('1 record would wait');
  await choose(page, 'Records');
  await line(page, 'Order Placed').click();
  await expect(panel(page).getByLabel('JSON')).toContainText('"event": "Order Placed"');
  await expect(panel(page)).toContainText('seen in the outbox');

  await service.faults([]);
  await expect(line(page, 'Order Placed')).toContainText(/delivered in .* attempt \d/);
  await expect(panel(page)).toContainText('Nothing waits: all is delivered.');
  await choose(page, 'Setup');
  await expect(panel(page).getByRole('row', { name: 'token' })).toContainText('given');
  await expect(panel(page)).not.toContainText(service.token);
  // What is as usual is not shown.
  await expect(panel(page).getByRole('row', { name: /Storage|Consent|concurrency/ })).toHaveCount(
    0,
  );
});

test('docks below, folds to a pill that counts on, and stays so on the next page', async ({
  page,
  site,
  service,
}) => {
  site.page('/', site.tagged({}, { body: '<main>Shop</main>' }));
  await page.goto(`${site.url}/?analytics`);
  const box = async () => (await panel(page).boundingBox())!;
  const { width, height } = page.viewportSize()!;
  expect(await box()).toMatchObject({ y: 0, height });
  await choose(page, 'Setup');
  await panel(page).getByLabel('Open on every page of this site').check();
  await panel(page).getByRole('button', { name: 'Dock below' }).click();
  await expect.poll(box).toMatchObject({ x: 0, width });
  await expect(panel(page)).toBeFocused();
  await panel(page).getByRole('button', { name: 'Fold' }).press('Enter');
  await expect(panel(page).getByRole('tab')).toHaveCount(0);
  const pill = panel(page).getByRole('button', { name: /waiting$/ });
  await service.faults([{ status: 503 }]);
  await call(page, 'Order Placed');
  await expect(pill).toHaveText('analytics · 1 waiting');

  await page.goto(`${site.url}/`);
  await expect(pill).toBeVisible();
  await pill.click();
  await expect.poll(box).toMatchObject({ x: 0, width });
});

test('works under a strict policy with Trusted Types, on a page that takes over names', async ({
  page,
  site,
  service,
}) => {
  const policy = [
    `default-src 'none'; script-src 'nonce-once' 'self'; img-src data:`,
    `connect-src ${service.url}; require-trusted-types-for 'script'; trusted-types 'none'`,
  ].join('; ');
  const body = '<form><input name="createElement"></form><img name="documentElement" alt="">';
  const html = site.tagged({}, { nonce: 'once', body });
  site.page('/', html, { 'content-security-policy': policy });
  await page.goto(`${site.url}/?analytics`);
  await expect(panel(page)).toBeVisible();
  await call(page, 'Under a policy');
  await expect(line(page, 'Under a policy')).toContainText('delivered');
  // The guest's eyes see that the console is silent.
});

test('makes requests fail on purpose, until it is closed', async ({ page, site, service }) => {
  site.page('/', site.tagged());
  await page.goto(`${site.url}/?analytics`);
  await choose(page, 'Faults');
  const own = await page.evaluateHandle(() => [fetch, navigator.sendBeacon]);
  await panel(page).getByRole('button', { name: 'answer 500' }).click();
  await expect(page.getByText('Fault on purpose: answer 500')).toBeVisible();
  await call(page, 'Kept');
  await choose(page, 'Records');
  await expect(line(page, 'Kept')).toContainText('500, ');
  expect(await service.events()).toEqual([]);

  await panel(page).getByRole('button', { name: 'Close the inspector' }).click();
  await expect(panel(page)).toHaveCount(0);
  const isRestored = ([fetched, beacon]: unknown[]) =>
    fetched === fetch && beacon === navigator.sendBeacon && !Object.hasOwn(navigator, 'sendBeacon');
  expect(await own.evaluate(isRestored)).toBe(true);
  await service.holds({ events: ['Kept'] }, { pages: [page] });
});

test('is clean by axe, light and dark, and no wider than a phone', async ({
  page,
  site,
  service,
  guest,
}) => {
  guest.allowGlobals('axe', '__core-js_shared__'); // axe's own
  await page.setViewportSize({ width: 390, height: 780 });
  site.page('/', site.tagged());
  await page.goto(`${site.url}/?analytics`);
  await call(page, 'Passes');
  await expect(line(page, 'Passes')).toContainText('delivered');
  await service.faults([{ status: 503 }]);
  await call(page, 'Fails');
  await expect(line(page, 'Fails')).toContainText('503');
  await line(page, 'Fails').click();
  const within = 'analytics-outbox-inspector';
  for (const tab of ['Records', 'If I close now', 'Setup', 'Faults']) {
    await choose(page, tab);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    await page.emulateMedia({ colorScheme: 'light' });
    expect(await axeFinds(page, { within }), tab).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await axeFinds(page, { within, rules: COLOURS }), `${tab}, dark`).toEqual([]);
  }
});

test('is one panel however often it is opened, in an element too, and goes with that', async ({
  page,
  site,
}) => {
  site.page('/', site.tagged({}, { body: '<div id="place"></div>' }));
  await page.goto(site.url + '/');
  const isSame = await page.evaluate(async (file) => {
    const { openInspector } = (await import(file)) as typeof import('../src/inspector.js');
    openInspector().close(); // as React does in its strict mode
    const into = document.querySelector('#place')!;
    return openInspector({ into }) === openInspector({ into });
  }, '/dist/outbox-inspector.js');
  expect(isSame).toBe(true);
  await expect(page.locator('#place').getByRole('region')).toHaveCount(1);
  await choose(page, 'Faults');
  await panel(page).getByRole('button', { name: 'offline' }).click();
  await expect(page.getByText('Fault on purpose: offline')).toBeVisible();
  await page.evaluate(() => document.querySelector('#place')!.remove());
  await expect.poll(() => page.evaluate(() => String(fetch))).toContain('[native code]');
});

test('lets one choose between the tags of a page, and names its frame', async ({
  page,
  site,
  guest,
}) => {
  guest.allowGlobals('second');
  const second = site.tagged({ project: 'other', global: 'second' }, { stub: false });
  site.page('/inner', site.tagged({}, { head: second.match(/<script async.*/)![0] }));
  site.page(
    '/',
    '<iframe name="checkout" src="/inner?analytics" width="900" height="800"></iframe>',
  );
  await page.goto(site.url + '/');
  const inner = page.frameLocator('iframe').getByRole('region', { name: 'Inspector' });
  await expect(inner).toContainText('frame checkout');
  await inner.getByLabel('Instance').selectOption('analytics p');
  await expect(inner).toContainText('p · direct');
  await inner.getByLabel('Instance').selectOption('second other');
  await expect(inner).toContainText('other · direct');
});
