import type { Page } from '@playwright/test';
import { heard, listening } from './support/heard.js';
import {
  BARE,
  openPopup,
  openUnloaded,
  tellNothingBeforeLoad,
  trackAndClose,
  trackAndGo,
  UNLOADED,
} from './support/leave.js';
import { names } from './support/names.js';
import { requestsFor } from './support/requests-for.js';
import type { Site } from './support/site.js';
import { steadyBackoff } from './support/steady-backoff.js';
import { expect, test } from './support/test.js';
import { track } from './support/track.js';

const unknownIn = (page: Page) => page.evaluate(() => analytics.status().unknown);

test.describe('hands off', () => {
  for (const isLoaded of [true, false]) {
    const when = isLoaded ? '' : ', before the page has loaded';
    /** Opens a page with the tag, which is left once it has loaded, or before. */
    const open = async (page: Page, site: Site, address: string): Promise<void> => {
      if (!isLoaded) await tellNothingBeforeLoad(page);
      await (isLoaded ? page.goto(address) : openUnloaded(page, site, address));
    };
    const body = isLoaded ? '' : UNLOADED;

    test(`what was called in the task that leaves for another page${when} @smoke @relay`, async ({
      page,
      service,
      site,
    }) => {
      await open(page, site, site.page('/', site.tagged({}, { body })));
      await trackAndGo(page, names(5), site.page('/bare', BARE));
      await service.holds({ events: names(5) });
    });

    test(`what was called in the task that leaves for another site${when} @smoke`, async ({
      page,
      service,
      site,
    }) => {
      const home = site.page('/', site.tagged({}, { body }));
      site.page('/bare', BARE);
      await open(page, site, home);
      await trackAndGo(page, names(5), `${site.otherUrl}/bare`);
      await service.holds({ events: names(5) });
      await page.goto(site.page('/home', site.tagged()));
      await service.holds({ events: names(5) }, { pages: [page] });
    });

    test(`what was called in the task that closes the tab${when} @smoke`, async ({
      page,
      service,
      site,
    }) => {
      if (!isLoaded) site.hold('/never.png');
      await page.goto(site.page('/bare', BARE));
      const popup = await openPopup(page, site.page('/', site.tagged({}, { body })), isLoaded);
      await trackAndClose(popup, names(5));
      await service.holds({ events: names(5) });
    });
  }

  test('an identify and the events after it', async ({ page, service, site }) => {
    await page.goto(site.page('/', site.tagged()));
    const bare = site.page('/bare', BARE);
    await page.evaluate((bare) => {
      analytics.event('before');
      analytics.identify('user_1', { plan: 'pro' });
      analytics.event('after');
      location.href = bare;
    }, bare);
    await service.holds({ events: ['before', 'after'], identifies: ['user_1'] });
  });

  test('what the page calls in its own pagehide and visibilitychange listeners @relay', async ({
    page,
    service,
    site,
  }) => {
    const listen = (when: string) => `<script>
      addEventListener('pagehide', () => analytics.event('${when}, pagehide'));
      document.addEventListener('visibilitychange', () =>
        analytics.event('${when}, ' + document.visibilityState));
    </script>`;
    // Both before the tracker's own listeners and after them.
    const late = `<script>addEventListener('load', () => document.head.append(
      document.createRange().createContextualFragment(${JSON.stringify(listen('late')).replace(/<\//g, '<\\/')})))</script>`;
    await page.goto(
      site.page('/', site.tagged({}, { head: listen('early'), body: late, attributes: 'defer' })),
    );
    await page.goto(site.page('/bare', BARE));
    await service.holds({
      events: ['early, pagehide', 'late, pagehide', 'early, hidden', 'late, hidden'],
    });
  });
});

test.describe('leaves to the next page', () => {
  test('what is beyond the budget of the browser, before the page has loaded', async ({
    page,
    service,
    site,
  }) => {
    await tellNothingBeforeLoad(page);
    await openUnloaded(page, site, site.page('/', site.tagged({}, { body: UNLOADED })));
    const events = names(60);
    await trackAndGo(page, events, site.page('/next', site.tagged()), 2_000);
    await service.holds({ events }, { pages: [page] });
    expect(await service.requests()).toHaveLength(60);
  });

  test('nothing twice of what it handed off @smoke', async ({ page, service, site }) => {
    await page.goto(site.page('/', site.tagged()));
    await trackAndGo(page, names(5), site.page('/next', site.tagged()));
    await service.holds({ events: names(5) }, { pages: [page] });
    expect(await service.requests()).toHaveLength(5);
  });

  test('what is beyond the budget of the browser @smoke', async ({ page, service, site }) => {
    await page.goto(site.page('/', site.tagged()));
    const events = names(200);
    await page.evaluate(
      ([events, address]) => {
        for (const event of events) analytics.event(event, { description: 'x'.repeat(300) });
        location.href = address;
      },
      [events, site.page('/bare', BARE)] as const,
    );
    await page.waitForURL('**/bare');
    // The browser takes its time over so many, and quiet may come before the first.
    await expect.poll(async () => (await service.events()).length).toBeGreaterThan(50);
    const handedOff = await service.neverTwice(events);
    expect(handedOff.length).toBeLessThan(200);
    await page.goto(site.page('/next', site.tagged()));
    await service.holds({ events }, { pages: [page] });
    expect(await service.requests()).toHaveLength(200);
  });

  test('what is beyond the number of requests that the browser carries', async ({
    page,
    service,
    site,
  }) => {
    const atExitOnly = { flushAt: 1_000, flushInterval: 60_000 };
    await page.goto(site.page('/', site.tagged(atExitOnly)));
    await trackAndGo(page, names(300), site.page('/next', site.tagged()));
    await service.holds({ events: names(300) }, { pages: [page] });
    expect(await service.requests()).toHaveLength(300);
  });

  test('everything, when it is offline @smoke', async ({ page, context, service, site }) => {
    // Nothing is tried before the page is left: an attempt under way then would count as unknown.
    await page.goto(site.page('/', site.tagged({ flushInterval: 60_000 })));
    await context.setOffline(true);
    await track(page, names(5));
    await page.goto('about:blank');
    await context.setOffline(false);
    await page.goto(site.page('/next', site.tagged()));
    await service.holds({ events: names(5) }, { pages: [page] });
    expect(await unknownIn(page)).toBe(0);
  });

  test('everything, when the service is known to fail @smoke', async ({ page, service, site }) => {
    await steadyBackoff(page);
    await page.goto(site.page('/', site.tagged({}, listening)));
    await service.faults([{ status: 503, headers: { 'retry-after': '2' }, times: 1 }]);
    await track(page, ['first']);
    await expect
      .poll(() => heard(page, 'outcome'))
      .toMatchObject([{ outcome: 'retry', status: 503 }]);
    await trackAndGo(page, names(5), site.page('/next', site.tagged()));
    await service.holds({ events: ['first', ...names(5)] }, { pages: [page] });
    const [refused, ...later] = await service.requests();
    expect(later).toHaveLength(6);
    for (const { at } of later) expect(at - refused!.at).toBeGreaterThanOrEqual(2_000);
  });
});

test.describe('with an answer that comes too late', () => {
  test('counts as unknown what the page left in flight, and does not repeat it @smoke', async ({
    page,
    service,
    site,
  }) => {
    await page.goto(site.page('/', site.tagged()));
    await service.faults([{ delay: 5_000 }]);
    await trackAndGo(page, names(5), site.page('/next', site.tagged({}, listening)));
    await expect.poll(() => unknownIn(page)).toBe(5);
    expect(await service.events()).toEqual([]);
    expect(await heard(page, 'outcome')).toMatchObject(Array(5).fill({ outcome: 'unknown' }));
    await service.holds({ events: names(5) }, { pages: [page] });
    expect(await service.requests()).toHaveLength(5);
  });

  test('repeats it under the same key, and it is stored once, with `idempotencyKey`', async ({
    page,
    service,
    site,
  }) => {
    const tagged = site.tagged({ idempotencyKey: true });
    await page.goto(site.page('/', tagged));
    // Stored at once, but the answer does not come while the page is there.
    await service.faults([{ after: true, delay: 5_000, times: 5 }]);
    await trackAndGo(page, names(5), site.page('/next', tagged));
    await service.holds({ events: names(5) }, { pages: [page] });
    await expect.poll(async () => (await service.requests()).length).toBe(10);
    await service.holds({ events: names(5) }, { pages: [page] });
    for (const event of names(5)) {
      const [first, second] = await requestsFor(service, event);
      expect(first!.idempotency_key).toMatch(/^[\w-]{21}$/);
      expect(second!.idempotency_key).toBe(first!.idempotency_key);
    }
    expect(await unknownIn(page)).toBe(0);
  });
});
