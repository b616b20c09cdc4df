import type { Page } from '@playwright/test';
import { prepareExamples } from '../packed/support/examples.js';
import { exampleFolder, outputOf, startNext } from './support/examples.js';
import type { Service } from './support/service.js';
import { expect, test } from './support/test.js';

const BUILDS_WITHIN_MS = 600_000;

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
  ['Page Viewed', '/stock', 'user_1'],
  // back
  ['Page Viewed', '/items/chair', 'user_1'],
  ['Page Viewed', '/checkout', 'user_1'],
  ['Checked Out', '', 'user_1'],
  // closes
] as const;

/** The walk of a visitor. All examples are the same shop. */
const walk = async (page: Page, service: Service) => {
  const go = async (link: string, heading: string) => {
    await page.getByRole('link', { name: link }).click();
    await expect(page.getByRole('heading')).toHaveText(heading);
  };
  const press = (name: RegExp) => page.getByRole('button', { name }).click();

  await expect(page.getByRole('heading')).toHaveText('Home');
  await expect.poll(() => service.events()).toHaveLength(1);
  await press(/Sign in/);
  await go('Lamp', 'lamp');
  await press(/Add/);
  await press(/Add/);
  await expect(page.getByRole('button')).toHaveText('Add (2)');
  await page.reload();
  await press(/Add/);
  await go('Chair', 'chair');
  await page.goBack();
  await expect(page.getByRole('heading')).toHaveText('lamp');
  await page.goForward();
  await expect(page.getByRole('heading')).toHaveText('chair');
  await press(/Add/);
  await go('Stock', 'Stock');
  await page.goBack();
  await expect(page.getByRole('heading')).toHaveText('chair');
  await go('Checkout', 'Checkout');
  await press(/Pay/);
  await page.close();
};

/** Waits until the database holds the walk, each row once and in the order of the calls. */
const holdsTheWalk = async (service: Service) => {
  await service.holds({ events: WALK.map(([name]) => name), identifies: ['user_1'] });
  const events = (await service.events()).sort((a, b) => (a.timestamp < b.timestamp ? -1 : 1));
  const told = events.map(({ event, tags: { path, item, count }, user_id }) => {
    if (event === 'Page Viewed') return [event, path, user_id];
    return [event, item ? `${String(item)} ${String(count)}` : '', user_id];
  });
  expect(told).toEqual(WALK);
  // Its title comes with its data, and no other view has it.
  const late = events.filter(({ tags }) => tags['title'] === 'Stock');
  expect(late.map(({ event, tags: { path } }) => [event, path])).toEqual([
    ['Page Viewed', '/stock'],
  ]);
  expect((await service.profiles())[0]).toMatchObject({
    user_id: 'user_1',
    properties: { plan: 'pro' },
  });
};

/** Examples that are files for any host, and their folders. */
const STATIC = {
  'React and Vite, for production': 'react-vite/dist',
  'React and Vite, for development': 'react-vite/dist-development',
  Vue: 'vue/dist',
  SvelteKit: 'svelte/build',
  'Astro with view transitions': 'astro/dist',
};

test.describe('an example built from the packed package', () => {
  // One build for all.
  test.describe.configure({ mode: 'default' });
  test.skip(process.env.RECIPES === 'skip', 'RECIPES=skip');

  // The examples capture visitors, and a driver looks on here.
  test.beforeEach(({ context }) =>
    context.addInitScript(() => {
      Object.defineProperty(Navigator.prototype, 'webdriver', { get: () => false });
    }),
  );

  test.beforeAll(async () => {
    test.setTimeout(BUILDS_WITHIN_MS);
    await prepareExamples();
  });

  for (const [name, folder] of Object.entries(STATIC)) {
    test(`has each route and each click in the database once: ${name}`, async ({
      page,
      guest,
      service,
      site,
    }) => {
      guest.allow(/Download the React DevTools/);
      guest.allow(/Transition was skipped/); // Astro's own, where the next click comes early
      site.mount('/', exampleFolder(folder), {
        fallback: '/index.html',
        script: (source) =>
          source.replace('http://127.0.0.1:8787', service.url).replace('demo-token', service.token),
      });
      await page.goto(site.url);
      await walk(page, service);
      await holdsTheWalk(service);
    });
  }

  test('has each route and each click in the database once: Next.js', async ({ page, service }) => {
    const next = await startNext(service);
    try {
      await page.goto(next.url);
      await walk(page, service);
      await holdsTheWalk(service);
    } finally {
      await next.stop();
    }
    // A server component has called `event` at each request of an item.
    expect(next.output()).not.toMatch(/⨯|error|analytics-outbox:/i);
  });

  test('runs on a server without a word: Vue', async () => {
    const output = await outputOf(exampleFolder('vue'), 'dist-server/render-vue.js');
    expect(output).toMatch(/^<!--\[--><nav>.*<h1>lamp<\/h1><button>Add \(0\)<\/button>.*\n$/);
  });
});
