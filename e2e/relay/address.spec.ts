import type { Page } from '@playwright/test';
import { scriptTag, stubTag } from '../support/tagged.js';
import { CHANNEL, PROJECT, test } from '../support/test.js';
import { RELAY } from '../support/relay.js';

test.use({ mode: 'relay' });

const trackIn = (page: Page) =>
  page
    .frameLocator('iframe')
    .locator('body')
    .evaluate(() => analytics.event('framed'));

test('is a path of the site, whatever <base> the page has', async ({ page, service, site }) => {
  // Another server: what goes there is lost.
  const base = { attributes: 'defer', body: `<base href="${service.url}">` };
  await page.goto(site.page('/deep/down/page', site.tagged({}, base)));
  await page.evaluate(() => analytics.event('called'));
  await service.holds({ events: ['called'] }, { pages: [page] });
});

test.describe('in a frame without an address of its own', () => {
  const framed = (url: string) =>
    stubTag() +
    scriptTag(
      { relay: RELAY, project: PROJECT, channel: CHANNEL },
      { src: `${url}/dist/outbox-relay.js` },
    );
  const pageWith = (base: string) =>
    `<!doctype html><title>A page</title><link rel="icon" href="data:,">
${base}<body></body>`;

  for (const [name, frame] of Object.entries({
    'made by srcdoc': 'srcdoc',
    'written into about:blank': 'about:blank',
  })) {
    test(`${name}, is a path of the site that made it`, async ({ page, service, site }) => {
      const base = `<base href="${service.url}">`;
      await page.goto(site.page('/', pageWith(base)));
      await page.evaluate(
        ([frame, html]) => {
          const element = document.createElement('iframe');
          if (frame === 'srcdoc') element.srcdoc = html;
          document.body.append(element);
          if (frame === 'srcdoc') return;
          element.contentDocument!.write(html);
          element.contentDocument!.close();
        },
        [frame, framed(site.url)] as const,
      );
      await trackIn(page);
      await service.holds({ events: ['framed'] });
    });
  }
});
