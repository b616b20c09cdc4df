import type { Page } from '@playwright/test';
import { openEarly } from './support/open-early.js';
import { tellNothingBeforeLoad } from './support/leave.js';
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

  test('waits with a flush for a script that comes within a second', async ({ page, site }) => {
    await page.clock.install();
    const release = site.hold('/dist/outbox.js');
    site.page('/', site.tagged());
    await openEarly(page, site.url + '/');
    await page.clock.pauseAt(Date.now() + 10_000);
    const flushed = page.evaluate(async () => {
      analytics.event('one');
      const { delivered } = await analytics.flush();
      return delivered;
    });
    release();
    await page.waitForFunction(() => Symbol.for('analytics-outbox') in analytics);
    await page.clock.resume();
    expect(await flushed).toBe(1);
  });

  test('settles a flush after a second, and delivers all calls when the script comes after all', async ({
    page,
    service,
    site,
  }) => {
    await page.clock.install();
    const release = site.hold('/dist/outbox.js');
    site.page('/', site.tagged());
    await openEarly(page, site.url + '/');
    await page.evaluate(() => {
      analytics.event('one');
      document.title = 'waits';
      void analytics.flush().then(({ waiting }) => (document.title = `${waiting} waiting`));
    });
    await page.clock.fastForward(1_000);
    await expect(page).toHaveTitle('1 waiting');
    await page.evaluate(() => void analytics.event('two'));
    release();
    await page.waitForFunction(() => Symbol.for('analytics-outbox') in analytics);
    await page.clock.fastForward(5_000);
    await service.holds({ events: ['one', 'two'] }, { pages: [page] });
  });
});

test.describe('calls of a page that is left before the script has come', () => {
  const leftIn = (page: Page) =>
    page.evaluate(() => Object.values({ ...sessionStorage }).map(String));

  test('are made on the next page of the tab, with their times', async ({
    page,
    service,
    site,
  }) => {
    const release = site.hold('/dist/outbox.js');
    await openEarly(page, site.page('/', site.tagged()));
    const called = await page.evaluate(() => {
      analytics.identify('user_1');
      analytics.event('early', { tags: { n: 1 } });
      return Date.now();
    });
    await page.goto(site.page('/next', '<!doctype html><title>No tag</title>'));
    release();
    await page.goto(site.page('/last', site.tagged()));
    await service.holds({ events: ['early'], identifies: ['user_1'] }, { pages: [page] });
    const [early] = await service.events();
    expect(early).toMatchObject({ user_id: 'user_1', tags: { n: 1 } });
    expect(Date.parse(early!.timestamp)).toBeLessThanOrEqual(called);
    expect(await leftIn(page)).toEqual([]);
  });

  test('are those of its tag, though another element has `data-project`', async ({
    page,
    service,
    site,
  }) => {
    const release = site.hold('/dist/outbox.js');
    const named = (html: string) => html.replace('<html', '<html data-project="another"');
    await openEarly(page, site.page('/', named(site.tagged())));
    await page.evaluate(() => analytics.event('early'));
    await page.goto(site.page('/next', '<!doctype html><title>No tag</title>'));
    release();
    await page.goto(site.page('/last', named(site.tagged())));
    await service.holds({ events: ['early'] }, { pages: [page] });
  });

  test('are not kept where its tag asks for consent, though another element has `data-project`', async ({
    page,
    site,
  }) => {
    site.hold('/dist/outbox.js');
    const html = site.tagged({ consent: 'pending' });
    await openEarly(page, site.page('/', html.replace('<html', '<html data-project="another"')));
    await page.evaluate(() => analytics.event('early'));
    await page.goto(site.page('/next', '<!doctype html><title>No tag</title>'));
    expect(await leftIn(page)).toEqual([]);
  });

  test('are made there whatever is in them', async ({ page, service, site }) => {
    const release = site.hold('/dist/outbox.js');
    await openEarly(page, site.page('/', site.tagged()));
    // As text, these fields look a little like calls of `init` and `setConsent`.
    const tags = { n: 1, info: 'x', size: 2, settings: 'y', list: [3, 'in', 'set'] };
    await page.evaluate((tags) => analytics.event('early', { tags }), tags);
    await page.goto(site.page('/next', '<!doctype html><title>No tag</title>'));
    release();
    await page.goto(site.page('/last', site.tagged()));
    await service.holds({ events: ['early'] }, { pages: [page] });
    expect((await service.events())[0]!.tags).toEqual(tags);
  });

  test('are made before those of the next page, so that its user stays', async ({
    page,
    service,
    site,
  }) => {
    const release = site.hold('/dist/outbox.js');
    await openEarly(page, site.page('/', site.tagged()));
    await page.evaluate(() => {
      analytics.identify('user_1');
      analytics.event('one');
    });
    const body = `<script>analytics.reset(); analytics.identify('user_2');</script>`;
    const next = site.page('/next', site.tagged({}, { body }));
    await page.goto(next, { waitUntil: 'commit' });
    await page.waitForFunction(() => document.readyState !== 'loading');
    release();
    await page.waitForFunction(() => Symbol.for('analytics-outbox') in analytics);
    await page.evaluate(() => analytics.event('two'));
    const identifies = ['user_1', 'user_2'];
    await service.holds({ events: ['one', 'two'], identifies }, { pages: [page] });
    const users = (await service.events()).map(({ event, user_id }) => [event, user_id]);
    expect(Object.fromEntries(users)).toEqual({ one: 'user_1', two: 'user_2' });
  });

  test('are those of all pages that were left', async ({ page, service, site }) => {
    const release = site.hold('/dist/outbox.js');
    for (const name of ['one', 'two', 'three']) {
      await openEarly(page, site.page(`/${name}`, site.tagged()));
      await page.evaluate((name) => analytics.event(name), name);
    }
    release();
    await page.goto(site.page('/last', site.tagged()));
    await service.holds({ events: ['one', 'two', 'three'] }, { pages: [page] });
    expect(await leftIn(page)).toEqual([]);
  });

  test('do not stop the next page', async ({ page, service, site }) => {
    const release = site.hold('/dist/outbox.js');
    await openEarly(page, site.page('/', site.tagged()));
    await page.evaluate(() => {
      analytics.event('early');
      analytics.stop();
    });
    await page.goto(site.page('/next', '<!doctype html><title>No tag</title>'));
    release();
    await page.goto(site.page('/last', site.tagged()));
    await page.evaluate(() => analytics.event('last'));
    await service.holds({ events: ['last'] }, { pages: [page] });
  });

  test('are ten thousand at most', async ({ page, site }) => {
    const release = site.hold('/dist/outbox.js');
    await openEarly(page, site.page('/', site.tagged({ consent: 'pending' })));
    await page.evaluate(() => {
      for (let i = 0; i < 10_005; i++) analytics.event('early');
    });
    release();
    await page.waitForFunction(() => Symbol.for('analytics-outbox') in analytics);
    expect(await page.evaluate(() => analytics.status())).toMatchObject({
      waiting: 10_000,
      dropped: {},
    });
  });

  test('are kept at the call, where the browser tells nothing of the leaving', async ({
    page,
    service,
    site,
  }) => {
    await tellNothingBeforeLoad(page);
    const release = site.hold('/dist/outbox.js');
    await openEarly(page, site.page('/', site.tagged()));
    const next = site.page('/next', '<!doctype html><title>No tag</title>');
    await page.evaluate((next) => {
      analytics.event('early');
      location.href = next;
    }, next);
    await page.waitForURL(next);
    expect(await leftIn(page)).toHaveLength(1);
    release();
    await page.goto(site.page('/last', site.tagged()));
    await service.holds({ events: ['early'] }, { pages: [page] });
    expect(await leftIn(page)).toEqual([]);
  });

  test('are made once where the page stays', async ({ page, service, site }) => {
    const release = site.hold('/dist/outbox.js');
    await openEarly(page, site.page('/', site.tagged()));
    await page.evaluate(() => analytics.event('one'));
    await page.evaluate(() => analytics.event('two'));
    expect(await leftIn(page)).toHaveLength(1);
    release();
    await service.holds({ events: ['one', 'two'] }, { pages: [page] });
    expect(await leftIn(page)).toEqual([]);
    await page.goto(site.page('/next', site.tagged()));
    await service.holds({ events: ['one', 'two'] }, { pages: [page] });
  });

  test('have the title and address of their moment', async ({ page, site }) => {
    site.hold('/dist/outbox.js');
    await openEarly(page, site.page('/', site.tagged()) + '?utm_source=letter');
    const [, , , , title, path] = await page.evaluate(() => {
      document.title = 'First';
      analytics.event('early');
      document.title = 'Second';
      history.replaceState(null, '', '/clean');
      return (analytics as unknown as { calls: unknown[][] }).calls[0]!;
    });
    expect([title, path]).toEqual(['First', '/']);
  });

  for (const isHeard of [true, false]) {
    const how = isHeard ? 'with' : 'without';
    test(`are removed by a denial, which counts on the next page, ${how} a word of the leaving`, async ({
      page,
      service,
      site,
    }) => {
      if (!isHeard) await tellNothingBeforeLoad(page);
      const release = site.hold('/dist/outbox.js');
      await openEarly(page, site.page('/', site.tagged()));
      await page.evaluate(() => {
        sessionStorage.setItem('analyticspages', 'not ours');
        analytics.event('first page');
      });
      await openEarly(page, site.page('/second', site.tagged()));
      // As consent platforms do that load the page again after "reject".
      const next = site.page('/next', '<!doctype html><title>No tag</title>');
      await page.evaluate((next) => {
        analytics.event('second page');
        analytics.setConsent('denied');
        analytics.event('denied');
        location.href = next;
      }, next);
      await page.waitForURL(next);
      const left = (await leftIn(page)).join();
      expect(left).toContain('setConsent');
      expect(left).not.toMatch(/first page|second page|"event"/);
      expect(left).toContain('not ours');
      release();
      await page.goto(site.page('/last', site.tagged()));
      await page.evaluate(() => analytics.event('last page'));
      expect(await page.evaluate(() => analytics.status())).toMatchObject({ consent: 'denied' });
      expect(await leftIn(page)).toEqual(['not ours']);
      // A banner that asks again: nothing of before comes back.
      await page.evaluate(() => {
        analytics.setConsent('granted');
        analytics.event('granted');
      });
      await service.holds({ events: ['granted'] }, { pages: [page] });
    });
  }

  test('are those after a consent that follows a denial', async ({ page, service, site }) => {
    const release = site.hold('/dist/outbox.js');
    await openEarly(page, site.page('/', site.tagged({ consent: 'pending' })));
    await page.evaluate(() => {
      analytics.event('before');
      analytics.setConsent('denied');
      analytics.event('denied');
      analytics.setConsent('granted');
      analytics.event('after');
    });
    await page.goto(site.page('/next', '<!doctype html><title>No tag</title>'));
    release();
    await page.goto(site.page('/last', site.tagged({ consent: 'pending' })));
    await service.holds({ events: ['after'] }, { pages: [page] });
  });

  for (const [where, options, call] of [
    ['the tag asks for consent', { consent: 'pending' }, () => undefined],
    ['the page asks for it', {}, () => analytics.setConsent('pending')],
  ] as const) {
    test(`are not stored where ${where}`, async ({ page, service, site }) => {
      const release = site.hold('/dist/outbox.js');
      await openEarly(page, site.page('/', site.tagged(options)));
      await page.evaluate(call);
      await page.evaluate(() => void analytics.event('early'));
      await page.goto(site.page('/next', '<!doctype html><title>No tag</title>'));
      release();
      expect(await leftIn(page)).toEqual([]);
      await service.holds({ events: [] });
    });
  }
});
