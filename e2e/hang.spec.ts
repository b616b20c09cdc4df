import { setTimeout as pause } from 'node:timers/promises';
import { heard, listening } from './support/heard.js';
import { names } from './support/names.js';
import { expect, test } from './support/test.js';

const TIMEOUT_MS = 500;
const ANSWER_MS = 200;
/** Longer than the timeout, and the answer is there by then. */
const STOOD_MS = ANSWER_MS + 2 * TIMEOUT_MS;

/** What holds a page up. */
const HOLDS = {
  'behind a dialog': () => void confirm('Leave the basket?'),
  'in a busy script @smoke': (ms: number) => {
    const end = performance.now() + ms;
    while (performance.now() < end);
  },
};

for (const [where, hold] of Object.entries(HOLDS)) {
  test(`sends nothing twice that was answered while the page stood still ${where}`, async ({
    page,
    service,
    site,
  }) => {
    page.on('dialog', async (dialog) => {
      await pause(STOOD_MS);
      await dialog.accept();
    });
    await page.goto(site.page('/', site.tagged({ timeout: TIMEOUT_MS }, listening)));
    await service.faults([{ after: true, delay: ANSWER_MS }]);
    await page.evaluate(
      ([events, hold, ms]) => {
        let sent = 0;
        analytics.on('sent', () => {
          if (++sent === events.length)
            setTimeout(() => ((0, eval)(`(${hold})`) as (ms: number) => void)(ms), 50);
        });
        for (const event of events) analytics.event(event);
      },
      [names(6), String(hold), STOOD_MS] as const,
    );
    await service.holds({ events: names(6) }, { pages: [page] });
    const outcomes = (await heard(page, 'outcome')).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(Array(6).fill('delivered'));
  });
}
