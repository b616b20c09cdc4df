import type { Page } from '@playwright/test';
import { buildSpa } from './support/build-spa.js';
import { makeTempFolder, removeTempFolder } from './support/temp-folder.js';
import { expect, test } from './support/test.js';

/** What the walk below is to leave in the database: name, path or item, user. */
const WALK = [
  ['Page Viewed', '/', null],
  // signs in
  ['Page Viewed', '/items/lamp', 'user_1'],
  ['Item Added', 'lamp 1', 'user_1'],
  ['Item Added', 'lamp 2', 'user_1'],
  // reloads
  ['Page Viewed', '/items/lamp', 'user_1'],
  ['Item Added', 'lamp 1', 'user_1'],
  ['Page Viewed', '/items/chair', 'user_1'],
  // back, forward
  ['Page Viewed', '/items/lamp', 'user_1'],
  ['Page Viewed', '/items/chair', 'user_1'],
  ['Item Added', 'chair 1', 'user_1'],
  ['Page Viewed', '/checkout', 'user_1'],
  ['Checked Out', '', 'user_1'],
  // closes
] as const;

const walk = async (page: Page) => {
  const go = async (link: string, heading: string) => {
    await page.getByRole('link', { name: link }).click();
    await expect(page.getByRole('heading')).toHaveText(heading);
  };
  const press = (name: RegExp) => page.getByRole('button', { name }).click();

  await expect(page.getByRole('heading')).toHaveText('Home');
  await press(/Sign in/);
  await go('Lamp', 'lamp');
  await press(/Add/);
  await press(/Add/);
  await page.reload();
  await press(/Add/);
  await go('Chair', 'chair');
  await page.goBack();
  await expect(page.getByRole('heading')).toHaveText('lamp');
  await page.goForward();
  await expect(page.getByRole('heading')).toHaveText('chair');
  await press(/Add/);
  await go('Checkout', 'Checkout');
  await press(/Pay/);
  await page.close();
};

for (const mode of ['production', 'development'] as const) {
  test.describe(`an app with React and a router, built for ${mode} from the packed package`, () => {
    // One build for all.
    test.describe.configure({ mode: 'default' });

    let folder: string;
    let app: string;
    test.beforeAll(() => {
      folder = makeTempFolder();
      app = buildSpa({ folder, mode });
    });
    test.afterAll(() => removeTempFolder(folder));

    test('has each route and each click in the database once', async ({
      page,
      guest,
      service,
      site,
    }) => {
      guest.allowGlobals('__reactRouterVersion');
      if (mode === 'development') guest.allow(/Download the React DevTools/);
      const setup = JSON.stringify({ baseUrl: service.url, token: service.token });
      site.mount('/shop/', app, {
        fallback: '/index.html',
        html: (source) =>
          source.replace(
            '<body>',
            `<body><script type="application/json" id="setup">${setup}</script>`,
          ),
      });
      await page.goto(`${site.url}/shop/`);
      await walk(page);
      await service.holds({ events: WALK.map(([name]) => name), identifies: ['user_1'] });
      const events = (await service.events()).sort((a, b) => (a.timestamp < b.timestamp ? -1 : 1));
      const told = events.map(({ event, tags, user_id }) => {
        const { path, item, count } = tags;
        return [event, path ?? (item ? `${String(item)} ${String(count)}` : ''), user_id];
      });
      expect(told).toEqual(WALK);
      expect((await service.profiles())[0]).toMatchObject({
        user_id: 'user_1',
        properties: { plan: 'pro' },
      });
    });
  });
}
