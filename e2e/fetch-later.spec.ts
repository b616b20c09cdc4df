import { BARE } from './support/html.js';
import { names } from './support/names.js';
import { statusOf } from './support/status-of.js';
import { expect, test } from './support/test.js';

/** A record has 1 KB, so these are more than the 64 KiB that a browser carries under `keepalive`. */
const BEYOND_KEEPALIVE = 80;

const FORMS = [
  { form: 'by relay', mode: 'relay', options: {} },
  { form: 'with keys', mode: 'direct', options: { idempotencyKey: true } },
] as const;

for (const { form, mode, options } of FORMS) {
  test.describe(form, () => {
    test.use({ mode });

    test('a tab that closes sends more than `keepalive` carries, and the next page the rest', async ({
      page,
      service,
      site,
    }) => {
      const events = names(200);
      await page.goto(site.page('/bare', BARE));
      const opened = page.waitForEvent('popup');
      const address = site.page('/', site.tagged(options));
      await page.evaluate((address) => void window.open(address), address);
      const tab = await opened;
      await expect.poll(async () => (await statusOf(tab)).storage).toBe('indexeddb');
      const closed = tab.waitForEvent('close');
      await tab.evaluate((events) => {
        setTimeout(() => {
          for (const event of events) analytics.event(event, { description: 'x'.repeat(900) });
          window.close();
        });
      }, events);
      await closed;
      const arrived = async () => (await service.events()).length;
      await expect.poll(arrived).toBeGreaterThan(BEYOND_KEEPALIVE);
      await page.goto(address);
      await service.holds({ events }, { pages: [page] });
    });
  });
}
