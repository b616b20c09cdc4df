import { heard, listening } from './support/heard.js';
import { names } from './support/names.js';
import { setupOf } from './support/setup-of.js';
import { statusOf } from './support/status-of.js';
import { CHANNEL, expect, PROJECT, test } from './support/test.js';
import { track } from './support/track.js';

/** Leaves the set-up to the page's own `init`. */
const unset = { baseUrl: undefined, token: undefined, project: undefined, channel: undefined };

test('keeps all while the token is wrong, says so once, and goes on with a new one @smoke', async ({
  page,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged({ token: 'wrong' }, listening)));
  await track(page, names(20));
  await expect.poll(() => heard(page, 'error')).toHaveLength(1);
  await track(page, names(20, 'later'));
  await page.evaluate(() => analytics.flush());
  expect(await service.events()).toEqual([]);
  await expect
    .poll(() => statusOf(page))
    .toMatchObject({ paused: 'setup', waiting: 40, inFlight: 0, dropped: {} });
  await page.evaluate((options) => analytics.init(options), setupOf(service));
  await service.holds({ events: [...names(20), ...names(20, 'later')] }, { pages: [page] });
  expect(await heard(page, 'error')).toMatchObject([
    {
      kind: 'setup',
      status: 401,
      message: expect.stringContaining(`${service.url}/v1/event: 401 {`),
    },
  ]);
  expect(await heard(page, 'drop')).toEqual([]);
  const passed = (await service.requests()).filter(({ status }) => status === 200);
  expect(passed).toHaveLength(40);
});

test('does not wait on the next page because a page was left while it asked for its token', async ({
  page,
  service,
  site,
}) => {
  let isSlow = true;
  site.handle('/token', (_, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    if (!isSlow) response.end(service.token);
  });
  const style = {
    ...listening,
    body: `${listening.body}<script>
  analytics.init({
    baseUrl: '${service.url}', project: '${PROJECT}', channel: '${CHANNEL}',
    token: async () => (await fetch('/token')).text(),
    onError: ({ kind }) => (sessionStorage.told = kind),
  });
</script>`,
  };
  site.page('/last', site.tagged(unset, style));
  await page.goto(site.page('/', site.tagged(unset, style)));
  const asked = page.waitForRequest('**/token'); // the call itself asks
  await track(page, ['left']);
  await asked;
  isSlow = false;
  await page.goto(`${site.url}/last`);
  expect((await statusOf(page)).paused).toBeUndefined();
  await service.holds({ events: ['left'] }, { pages: [page] });
  expect(await page.evaluate(() => sessionStorage['told'] as unknown)).toBeUndefined();
});
