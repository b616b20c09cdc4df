import { BARE, trackAndGo } from './support/leave.js';
import { names } from './support/names.js';
import { test, expect } from './support/test.js';

test('hands off an identify and the events after it, and what the page calls in its own listeners @relay', async ({
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
  const style = { head: listen('early'), body: late, attributes: 'defer' };
  await page.goto(site.page('/', site.tagged({}, style)));
  const bare = site.page('/bare', BARE);
  await page.evaluate((bare) => {
    analytics.event('before');
    analytics.identify('user_1', { plan: 'pro' });
    analytics.event('after');
    location.href = bare;
  }, bare);
  const last = ['early, pagehide', 'late, pagehide', 'early, hidden', 'late, hidden'];
  await service.holds({ events: ['before', 'after', ...last], identifies: ['user_1'] });
});

test('leaves to the next page what is beyond the number of requests that the browser carries @nightly', async ({
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
