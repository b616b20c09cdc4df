import { expect, test as base, type Page } from '@playwright/test';
import { axeFinds, COLOURS } from './support/axe.js';
import { createRowsService, incoming, type RowsService } from './support/rows.js';
import { makeTempFolder, removeTempFolder } from './support/temp-folder.js';

const test = base.extend<{ service: RowsService; complaints: string[] }>({
  service: async ({}, use) => {
    const folder = makeTempFolder();
    const service = await createRowsService(folder);
    await use(service);
    await service.stop();
    removeTempFolder(folder);
  },
  /** What the page says on the console. It has to be silent. */
  complaints: [
    async ({ page }, use) => {
      const complaints: string[] = [];
      page.on('console', (message) => complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push(String(error)));
      await use(complaints);
      expect(complaints).toEqual([]);
    },
    { auto: true },
  ],
});

const HOUR_MS = 3_600_000;
const ago = (hours: number) => {
  const at = new Date(Date.now() - hours * HOUR_MS).toISOString();
  return { calledAt: at, receivedAt: at };
};
const times = <Item>(count: number, make: (n: number) => Item): Item[] =>
  Array.from({ length: count }, (_, n) => make(n));
const open = async (page: Page, service: RowsService, query: string): Promise<void> => {
  await page.goto(`${service.url}/rows${query}`);
  await expect(page.locator('.live p')).toContainText('Live');
};
const rows = (page: Page) => page.locator('.row');
const filters = (page: Page) => page.getByRole('list', { name: 'Filters that are on' });

/** Ten sign-ups by six users: a plan, and a value of strangers. */
const signUps = (service: RowsService) =>
  service.store(
    ...times(10, (n) =>
      incoming(
        'Signed Up',
        { user_id: `user_${n % 6}`, tags: { plan: n % 3 ? 'free' : 'pro', odd: '<b>שלום</b>' } },
        ago(1 + (n % 3)),
      ),
    ),
    incoming('Other', { user_id: 'somebody' }, ago(1)),
  );

test('counts an event by users, hours and tags in place, and leads to the rows of a value', async ({
  page,
  service,
}) => {
  await signUps(service);
  await open(page, service, '?show=overview');
  // By the keyboard alone.
  const name = page.locator('.ranking').getByRole('button', { name: 'Signed Up' });
  await name.press('Enter');
  await expect(name).toHaveAttribute('aria-expanded', 'true');
  const panel = page.locator('.panel');
  await expect(panel).toContainText('10 in the last 24 hours, 6 users');
  await panel.getByText('The numbers as a table').press('Enter');
  const counts = await panel.locator('tbody td:nth-child(2)').allTextContents();
  expect(counts.map(Number).filter(Boolean).sort()).toEqual([3, 3, 4]);
  const values = panel.locator('.values li');
  await expect(values).toHaveText([/free\s*6\s*60%/, /pro\s*4\s*40%/]);
  await panel.getByLabel('By tag').selectOption('odd');
  await expect(values).toHaveText([/<b>שלום<\/b>\s*10\s*100%/]);
  await panel.getByLabel('By tag').selectOption('plan');
  await values.getByRole('button', { name: 'pro' }).press('Enter');
  await expect(rows(page)).toHaveCount(4);
  await expect(filters(page)).toContainText('plan=pro');

  // The panel is a place to come back to, also from another page.
  await page.goBack();
  await expect(panel).toContainText('10 in the last 24 hours');
  await page.reload();
  await expect(panel).toContainText('10 in the last 24 hours');
  await panel.getByRole('button', { name: 'Close' }).click();
  await expect(panel).toHaveCount(0);
});

test('counts an event that the feed shows', async ({ page, service }) => {
  await signUps(service);
  await open(page, service, '');
  await rows(page).filter({ hasText: 'Other' }).getByRole('button', { name: 'Other' }).click();
  await page.getByRole('button', { name: 'Count by day and tag' }).click();
  await expect(page.locator('.panel')).toContainText('1 in the last 24 hours, 1 user');
});

test('shows pages, referrers and campaigns where page views are captured', async ({
  page,
  service,
}) => {
  await service.store(
    ...times(6, (n) =>
      incoming('Page Viewed', {
        tags: {
          path: n % 3 ? '/a' : '/b',
          referrer: 'https://r.example/',
          ...(n > 3 && { utm_campaign: 'spring' }),
        },
      }),
    ),
  );
  await open(page, service, '?show=overview');
  const card = page.locator('.pages');
  await expect(card).toContainText('6 views by 0 users');
  await expect(card.locator('.values li')).toHaveText([
    ...[/\/a\s*4\s*66.7%/, /\/b\s*2\s*33.3%/, /r\.example\/\s*6\s*100%/, /spring\s*2\s*33.3%/],
  ]);
  await card.getByRole('button', { name: 'spring' }).click();
  await expect(rows(page)).toHaveCount(2);
});

test('says how many rows each filter has, and all of them', async ({ page, service }) => {
  await signUps(service);
  await open(page, service, '?event=Signed+Up&tag=plan%3Dpro&user=user_0');
  await expect(filters(page)).toContainText(/event\s*Signed Up\s*10 rows/);
  await expect(filters(page)).toContainText(/tag\s*plan=pro\s*4 rows/);
  await expect(filters(page)).toContainText(/user\s*user_0\s*2 rows/);
  await expect(filters(page).getByRole('status')).toHaveText('2 rows');
});

test('lists users by who was here last, identified or not, and finds them', async ({
  page,
  service,
}) => {
  await service.store(
    incoming('Old', { user_id: 'mia' }, ago(50)),
    incoming('Old', { user_id: 'ben' }, ago(49)),
    incoming('Now', { user_id: 'mia' }, ago(0)),
  );
  await service.post('/v1/identify', {
    ...{ project: 'shop', user_id: 'zoe', properties: { plan: 'pro', name: 'Zoe' } },
  });
  const profiles = async () =>
    ((await (await fetch(`${service.url}/profiles`)).json()) as { profiles: unknown[] }).profiles;
  await expect.poll(profiles).toHaveLength(1);
  await open(page, service, '?show=users');
  const users = page.locator('.users tbody tr');
  await expect(users).toHaveText([/zoe.*plan pro.*name Zoe/, /mia.*never identified/, /ben/]);
  await expect(page.getByRole('heading', { name: 'Users', level: 2 })).toContainText(
    '2 seen in 24 hours',
  );
  await expect(users.nth(1).getByRole('img')).toHaveAccessibleName('2 days with rows');
  await expect(users.nth(1).getByRole('cell').nth(2)).toHaveText('2');
  const find = page.getByRole('searchbox', { name: 'Find a user' });
  await find.fill('mi');
  await expect(users).toHaveText([/mia/]);
  await find.fill('plan=pro');
  await expect(users).toHaveText([/zoe/]);
  await find.fill('nobody');
  await expect(page.getByText('Nobody is found.')).toBeVisible();
  await find.fill('');
  await users.nth(2).getByRole('button', { name: 'ben' }).press('Enter');
  await expect(page.getByRole('heading', { name: 'ben' })).toBeVisible();
});

test('takes an erased user off the list of an open page', async ({ page, service }) => {
  await service.store(incoming('A', { user_id: 'mia' }), incoming('A', { user_id: 'ben' }));
  await open(page, service, '?show=users');
  const users = page.locator('.users tbody tr');
  await expect(users).toHaveCount(2);
  await fetch(`${service.url}/users?project=shop&user=mia`, { method: 'DELETE' });
  await expect(users).toHaveText([/ben/]);
});

test('has nothing that axe finds, light and dark, wide and narrow', async ({ page, service }) => {
  const check = async (what: string): Promise<void> => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const isLight = colorScheme === 'light';
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.setViewportSize({ width: isLight ? 1440 : 390, height: 900 });
      const found = await axeFinds(page, isLight ? {} : { rules: COLOURS });
      expect(found, `${what}, ${colorScheme}`).toEqual([]);
      const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      expect(isWide, `${what}, ${colorScheme}`).toBe(false);
    }
  };
  await signUps(service);
  const tags = { path: `/${'long'.repeat(200)}`, 'ש"<b>': 'x' };
  await service.store(incoming('Page Viewed', { user_id: `u${'long'.repeat(200)}`, tags }));
  await open(page, service, '?show=overview&panel=Page+Viewed');
  await expect(page.locator('.panel .values li')).toHaveCount(1);
  await expect(page.locator('.pages')).toBeVisible();
  await check('panel');
  await open(page, service, '?show=users');
  await expect(page.locator('.users tbody tr')).toHaveCount(8);
  await check('users');
  await open(page, service, '?event=Signed+Up&tag=plan%3Dpro');
  await expect(filters(page)).toContainText('4 rows');
  await check('filters');
});
