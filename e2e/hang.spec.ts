import { setTimeout as pause } from 'node:timers/promises';
import { heard, listening, sentTimes } from './support/heard.js';
import { names } from './support/names.js';
import { requestsFor } from './support/requests-for.js';
import { expect, test } from './support/test.js';
import { track } from './support/track.js';

const TIMEOUT_MS = 3_000;
const HUNG = 'event 3';

test('lets the others pass one request that hangs, and sends it again after its timeout', async ({
  page,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged({ timeout: TIMEOUT_MS }, listening)));
  await service.faults([{ match: { event: HUNG }, hang: true, times: 1 }]);
  const times = await track(page, names(40));
  await service.holds({ events: names(40) }, { pages: [page] });
  for (const { event, received_at } of await service.events()) {
    const took = Date.parse(received_at) - times[event]!;
    if (event !== HUNG) expect(took).toBeLessThan(2_500);
  }
  const [first, second, ...more] = await requestsFor(service, HUNG);
  expect(more).toEqual([]);
  // By the page: how long a request is on its way to the service says nothing of the timeout.
  const [started, again] = await sentTimes(page, HUNG);
  expect(again! - started!).toBeGreaterThanOrEqual(TIMEOUT_MS - 50);
  expect(second!.at - first!.at).toBeLessThan(2 * TIMEOUT_MS);
  expect((await heard(page, 'outcome')).filter(({ outcome }) => outcome !== 'delivered')).toEqual([
    expect.objectContaining({ outcome: 'retry' }),
  ]);
});

test('holds back only the same user while an identify hangs', async ({ page, service, site }) => {
  await page.goto(site.page('/', site.tagged({ timeout: TIMEOUT_MS })));
  await service.faults([
    { match: { path: '/v1/identify', user_id: 'slow' }, hang: true, times: 1 },
  ]);
  const called = await page.evaluate(() => {
    analytics.identify('slow', { n: 1 });
    analytics.event('of slow');
    analytics.identify('slow', { n: 2 });
    analytics.identify('quick');
    analytics.event('of quick');
    analytics.event('of nobody', { userId: null });
    return Date.now();
  });
  await service.holds(
    { events: ['of slow', 'of quick', 'of nobody'], identifies: ['slow', 'slow', 'quick'] },
    { pages: [page] },
  );
  const took = new Map(
    (await service.events()).map((row) => [row.event, Date.parse(row.received_at) - called]),
  );
  expect(took.get('of quick')).toBeLessThan(2_500);
  expect(took.get('of nobody')).toBeLessThan(2_500);
  expect(took.get('of slow')).toBeGreaterThan(TIMEOUT_MS);
  const slow = (await service.identifies()).filter(({ user_id }) => user_id === 'slow');
  expect(slow.map(({ properties }) => properties)).toEqual([{ n: 1 }, { n: 2 }]);
});

test.describe('sends nothing twice that was answered while the page stood still', () => {
  const SHORT_MS = 1_000;
  const ANSWER_MS = 300;

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
