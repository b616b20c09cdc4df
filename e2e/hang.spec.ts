import { setTimeout as pause } from 'node:timers/promises';
import { heard, listening } from './support/heard.js';
import { names } from './support/names.js';
import { expect, test } from './support/test.js';

const SHORT_MS = 1_000;
const ANSWER_MS = 300;

test.describe('sends nothing twice that was answered while the page stood still', () => {
  test('behind a dialog @smoke', async ({ page, service, site }) => {
    await page.goto(site.page('/', site.tagged({ timeout: SHORT_MS }, listening)));
    await service.faults([{ after: true, delay: ANSWER_MS }]);
    const asked = page.waitForEvent('dialog');
    await page.evaluate((events) => {
      let sent = 0;
      analytics.on('sent', () => {
        if (++sent === events.length) setTimeout(() => confirm('Leave the basket?'), 50);
      });
      for (const event of events) analytics.event(event);
    }, names(6));
    const dialog = await asked;
    await expect.poll(async () => (await service.events()).length).toBe(6);
    // Answered by now, and longer than the timeout.
    await pause(ANSWER_MS + 2 * SHORT_MS);
    await dialog.accept();
    await service.holds({ events: names(6) }, { pages: [page] });
    const outcomes = (await heard(page, 'outcome')).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(Array(6).fill('delivered'));
  });

  test('in a busy script @smoke', async ({ page, service, site }) => {
    await page.goto(site.page('/', site.tagged({ timeout: SHORT_MS }, listening)));
    await service.faults([{ after: true, delay: ANSWER_MS }]);
    await page.evaluate(
      ([events, ms]) => {
        let sent = 0;
        const block = () => {
          const end = performance.now() + ms;
          while (performance.now() < end);
        };
        analytics.on('sent', () => {
          if (++sent === events.length) setTimeout(block, 50);
        });
        for (const event of events) analytics.event(event);
      },
      [names(6), ANSWER_MS + 2 * SHORT_MS] as const,
    );
    await service.holds({ events: names(6) }, { pages: [page] });
    const outcomes = (await heard(page, 'outcome')).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(Array(6).fill('delivered'));
  });
});
