import { htmlPage } from './support/html.js';
import { RELAY } from './support/relay.js';
import { scriptTag, stubTag } from './support/tagged.js';
import { CHANNEL, PROJECT, test } from './support/test.js';

test.use({ mode: 'relay' });

test('its address is a path of the site, whatever <base> the page has', async ({
  page,
  service,
  site,
}) => {
  // Another server: what goes there is lost.
  const base = { attributes: 'defer', body: `<base href="${service.url}">` };
  await page.goto(site.page('/deep/down/page', site.tagged({}, base)));
  await page.evaluate(() => analytics.event('called'));
  await service.holds({ events: ['called'] }, { pages: [page] });
});

for (const frame of ['srcdoc', 'about:blank']) {
  test(`its address in a frame of ${frame} is a path of the site that made that`, async ({
    page,
    service,
    site,
  }) => {
    const options = { relay: RELAY, project: PROJECT, channel: CHANNEL };
    const tag = scriptTag(options, { src: `${site.url}/dist/outbox-relay.js` });
    await page.goto(site.page('/', htmlPage({ head: `<base href="${service.url}">` })));
    await page.evaluate(
      ([frame, html]) => {
        const element = document.createElement('iframe');
        if (frame === 'srcdoc') element.srcdoc = html;
        document.body.append(element);
        if (frame === 'srcdoc') return;
        element.contentDocument!.write(html);
        element.contentDocument!.close();
      },
      [frame, stubTag() + tag] as const,
    );
    const body = page.frameLocator('iframe').locator('body');
    await body.evaluate(() => analytics.event('framed'));
    await service.holds({ events: ['framed'] });
  });
}
