import { expect, test, type Page } from '@playwright/test';
import { axeFinds, COLOURS } from './support/axe.js';
import { createRowsService, incoming } from './support/rows.js';
import { makeTempFolder, removeTempFolder } from './support/temp-folder.js';

const EVENT = { project: 'shop', channel: 'web', event: 'Signed Up' };
const TABS = ['Rows', 'Overview', 'Users', 'Refused'];

/** Runs a service with some rows until the test is over. */
const withService = async (
  use: (service: Awaited<ReturnType<typeof createRowsService>>) => Promise<void>,
): Promise<void> => {
  const folder = makeTempFolder();
  const service = await createRowsService(folder);
  try {
    await service.store(incoming('Signed Up'), incoming('Order Placed', {}, { late: 60_000 }));
    await use(service);
  } finally {
    await service.stop();
    removeTempFolder(folder);
  }
};
const strip = (page: Page, name: string) => page.locator('.strip li').filter({ hasText: name });
const looksRight = async (page: Page): Promise<void> => {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width: colorScheme === 'light' ? 1440 : 390, height: 900 });
    expect(await axeFinds(page, colorScheme === 'light' ? {} : { rules: COLOURS })).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(
      true,
    );
  }
};

test('says on every tab within 5 s that rows are not stored, and what came of it afterwards', async ({
  page,
}) => {
  await withService(async (service) => {
    await service.post('/v1/event', EVENT);
    await page.goto(`${service.url}/rows?show=overview`);
    await expect(strip(page, 'Storing')).toContainClass('ok');
    await expect(strip(page, 'Arriving')).toContainText('last row');
    await expect(strip(page, 'Refused')).toContainText('0 since');
    await expect(strip(page, 'Sent on')).toContainText('nowhere');
    await expect(page.getByRole('alert')).toHaveCount(0);
    await looksRight(page);

    const mend = service.fail('the disk is full: rows.db cannot grow');
    expect((await service.post('/v1/event', EVENT)).status).toBe(503);
    const banner = page.getByRole('alert');
    await expect(banner).toContainText('Rows are not stored since', { timeout: 5_000 });
    await expect(banner).toContainText('the disk is full: rows.db cannot grow');
    await expect(banner).toContainText('Pages keep their records and send them again');
    await expect(strip(page, 'Not storing')).toContainClass('wrong');
    await looksRight(page);
    for (const name of TABS) {
      await page.getByRole('tab', { name }).click();
      await expect(banner).toBeVisible();
      await expect(page.locator('.live')).toContainText('Rows are not stored');
      // Whoever comes meanwhile is told as soon.
      await page.reload();
      await expect(banner).toBeVisible({ timeout: 5_000 });
    }

    const called = new Date().toISOString();
    mend();
    const late = await service.post('/v1/event', { ...EVENT, timestamp: called });
    expect(late.status).toBe(200);
    await expect(banner).toHaveCount(0, { timeout: 5_000 });
    await page.getByRole('tab', { name: 'Overview' }).click();
    await expect(strip(page, 'Storing')).toContainClass('ok');
    const outage = page.locator('.outages li');
    await expect(outage).toContainText('not stored for');
    await expect(page.locator('.plot .outage')).toHaveCount(1);
    await outage.getByRole('button', { name: 'Count what came later' }).press('Enter');
    await expect(outage).toContainText('1 row called meanwhile came later');
    await looksRight(page);
  });
});

test('counts each answer that refuses something, and says which are kept to look at', async ({
  page,
}) => {
  await withService(async (service) => {
    await page.goto(`${service.url}/rows?show=refused`);
    await expect(
      page.getByText('0 answers refused a request or record in the last 30 days'),
    ).toBeVisible();
    const refuse = () => service.post('/v1/event', EVENT, 'wrong');
    for (let n = 0; n < 300; n++) await refuse();
    await expect(page.locator('.notices')).toContainText('Many refused', { timeout: 5_000 });
    const title = page.getByRole('heading', { name: '300 answers refused a request or record' });
    await expect(title).toBeVisible();
    await expect(page.getByRole('tab', { name: 'Refused' })).toContainText('300');
    const kept = Number(/^\d+/.exec(await page.locator('.refused-head .soft').first().innerText()));
    expect(kept).toBeGreaterThan(40);
    expect(kept).toBeLessThan(300);
    await expect(page.getByRole('button', { name: 'Token not accepted' })).toContainText(
      `${kept} of 300`,
    );
    await looksRight(page);
    await page.getByRole('tab', { name: 'Overview' }).click();
    await expect(strip(page, 'Many refused')).toContainText('300 since');
    await expect(page.locator('.values .refused b')).toHaveText('300');
  });
});

test('is red within some seconds where the service stands still', async ({ page }) => {
  await withService(async (service) => {
    let isStill = false;
    // The line that is open stays so, and what comes on it does not reach the page.
    await page.addInitScript(() => {
      const { getReader } = ReadableStream.prototype;
      ReadableStream.prototype.getReader = function (this: ReadableStream, ...args: []) {
        const reader = Reflect.apply(getReader, this, args) as ReadableStreamDefaultReader;
        const { read } = reader;
        reader.read = async () => {
          const result = await read.call(reader);
          return (globalThis as { isStill?: boolean }).isStill ? new Promise(() => {}) : result;
        };
        return reader;
      } as typeof getReader;
    });
    await page.goto(`${service.url}/rows?show=overview`);
    await expect(strip(page, 'Arriving')).toBeVisible();
    isStill = true;
    await page.evaluate((is) => void Object.assign(globalThis, { isStill: is }), isStill);
    await expect(page.locator('.live')).toContainText('No sign of life', { timeout: 9_000 });
    await expect(strip(page, 'No answer')).toContainClass('wrong');
  });
});
