import { listening } from './support/heard.js';
import { UNSET } from './support/setup-of.js';
import { statusOf } from './support/status-of.js';
import { CHANNEL, expect, PROJECT, test } from './support/test.js';
import { track } from './support/track.js';

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
  site.page('/last', site.tagged(UNSET, style));
  await page.goto(site.page('/', site.tagged(UNSET, style)));
  const asked = page.waitForRequest('**/token'); // the call itself asks
  await track(page, ['left']);
  await asked;
  isSlow = false;
  await page.goto(`${site.url}/last`);
  expect((await statusOf(page)).paused).toBeUndefined();
  await service.holds({ events: ['left'] }, { pages: [page] });
  expect(await page.evaluate(() => sessionStorage['told'] as unknown)).toBeUndefined();
});
