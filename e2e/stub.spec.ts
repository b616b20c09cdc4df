import type { Page } from '@playwright/test';
import { expect, test } from './support/test.js';

/** What a flush, or `status()`, says while the script is not there. */
const NOTHING = { delivered: 0, rejected: 0, retried: 0 };

/** A button of the page's own, whose handler calls the tracker first. */
const BUTTON = `<button>Buy</button><script>
document.querySelector('button').addEventListener('click', () => {
  analytics.event('Bought');
  document.title = 'bought, ' + analytics.status().waiting + ' waiting';
});
</script>`;

const flushOf = (page: Page) => page.evaluate(() => analytics.flush());

test.describe('the stub, where the script does not come', () => {
  test('keeps the page running in a browser without Object.hasOwn', async ({ page, site }) => {
    await page.addInitScript(() => Reflect.deleteProperty(Object, 'hasOwn'));
    site.page('/', site.tagged({}, { src: '/missing/outbox.js', body: BUTTON }));
    await page.goto(site.url + '/');
    await page.getByRole('button').click();
    await expect(page).toHaveTitle('bought, 1 waiting');
  });

  test('says in `status()` what waits, and that nothing has started', async ({ page, site }) => {
    site.page('/', site.tagged({}, { src: '/missing/outbox.js' }));
    await page.goto(site.url + '/');
    const status = await page.evaluate(() => {
      analytics.identify('user');
      analytics.event('one');
      analytics.reset();
      analytics.event('two');
      return analytics.status();
    });
    expect(status).toMatchObject({
      storage: 'none',
      paused: 'not-started',
      waiting: 3,
      inFlight: 0,
      delivered: 0,
      unknown: 0,
      dropped: {},
    });
  });

  const WAYS = {
    'is missing': { src: '/missing/outbox.js' },
    'is missing, under a name of the site’s own': { src: '/missing/o.js' },
    'is blocked': { src: '/blocked/outbox.js' },
    'is another than its hash says': {
      attributes: `async integrity="sha384-${'A'.repeat(64)}" crossorigin="anonymous"`,
    },
  };
  for (const [how, style] of Object.entries(WAYS)) {
    test(`settles a flush as the script ${how}`, async ({ page, guest, site }) => {
      guest.allow(/Failed to find a valid digest in the 'integrity' attribute/);
      await page.route('**/blocked/**', (route) => route.abort('blockedbyclient'));
      site.page('/', site.tagged({}, style));
      await page.goto(site.url + '/');
      await page.evaluate(() => void analytics.event('one'));
      expect(await flushOf(page)).toMatchObject({ ...NOTHING, waiting: 1 });
    });
  }

  test('does not take the failure of something else for its own', async ({ page, site }) => {
    const body = `<img src="/missing.png" data-project="x"><script src="/missing.js"></script>`;
    const release = site.hold('/dist/outbox.js');
    site.page('/', site.tagged({}, { body }));
    await page.goto(site.url + '/', { waitUntil: 'commit' });
    await page.locator('img').waitFor({ state: 'attached' });
    const flushed = page.evaluate(async () => {
      analytics.event('one');
      return (await analytics.flush()).delivered;
    });
    release();
    expect(await flushed).toBe(1);
  });

  test('settles a flush after ten seconds, and delivers all calls when the script comes after all', async ({
    page,
    service,
    site,
  }) => {
    await page.clock.install();
    const release = site.hold('/dist/outbox.js');
    site.page('/', site.tagged());
    await page.goto(site.url + '/', { waitUntil: 'commit' });
    await page.waitForFunction(() => 'analytics' in window);
    await page.evaluate(() => {
      analytics.event('one');
      document.title = 'waits';
      void analytics.flush().then(({ waiting }) => (document.title = `${waiting} waiting`));
    });
    await page.clock.fastForward(9_000);
    await page.evaluate(() => undefined);
    expect(await page.title()).toBe('waits');
    await page.clock.fastForward(1_000);
    await expect(page).toHaveTitle('1 waiting');
    await page.evaluate(() => void analytics.event('two'));
    release();
    await page.waitForFunction(() => Symbol.for('analytics-outbox') in analytics);
    await page.clock.fastForward(5_000);
    await service.holds({ events: ['one', 'two'] }, { pages: [page] });
  });
});
