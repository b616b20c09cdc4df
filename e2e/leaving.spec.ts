import {
  BARE,
  openUnloaded,
  tellNothingBeforeLoad,
  trackAndGo,
  UNLOADED,
} from './support/leave.js';
import { names } from './support/names.js';
import { expect, test } from './support/test.js';

test.describe('hands off', () => {
  test('an identify and the events after it @relay', async ({ page, service, site }) => {
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
});
