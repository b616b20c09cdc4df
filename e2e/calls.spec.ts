import { heard, listening } from './support/heard.js';
import { breakStorage } from './support/break-storage.js';
import { names } from './support/names.js';
import { statusOf } from './support/status-of.js';
import { expect, test } from './support/test.js';
import { track } from './support/track.js';

test('takes numbers as ids of users, and sends them as text @relay', async ({
  page,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged({}, listening)));
  await page.evaluate(`
    analytics.identify(42, { plan: 'pro' });
    analytics.event('of the user');
    analytics.event('of another', { userId: 7 });
    analytics.event('of a third', { user_id: 8.5 });
    analytics.event('of none', { userId: NaN });
    analytics.identify(Infinity);`);
  const events = ['of the user', 'of another', 'of a third'];
  await service.holds({ events, identifies: ['42'] }, { pages: [page] });
  const users = new Map((await service.events()).map(({ event, user_id }) => [event, user_id]));
  expect(events.map((event) => users.get(event))).toEqual(['42', '7', '8.5']);
  expect((await heard(page, 'drop')).map(({ reason }) => reason)).toEqual(
    Array(2).fill('invalid-call'),
  );
  expect(await statusOf(page)).toMatchObject({ userId: '42' });
  await page.goto(site.page('/next', site.tagged()));
  await track(page, ['on the next page']);
  await service.holds({ events: [...events, 'on the next page'] }, { pages: [page] });
  expect((await service.events()).at(-1)!.user_id).toBe('42');
});

test('takes `null` as no fields and as no properties @relay', async ({ page, service, site }) => {
  const body = `${listening.body}<script>analytics.event('early', null)</script>`;
  await page.goto(site.page('/', site.tagged({}, { ...listening, body })));
  await page.evaluate(`
    analytics.event('late', null);
    analytics.identify('user_1', null);`);
  await service.holds({ events: ['early', 'late'], identifies: ['user_1'] }, { pages: [page] });
  expect((await service.events()).map(({ tags }) => tags)).toEqual([{}, {}]);
  expect((await service.identifies())[0]!.properties).toEqual({});
  expect(await heard(page, 'drop')).toEqual([]);
});

test('drops with a reason what `stop()` can leave to nobody, since the page has no storage', async ({
  page,
  context,
  service,
  site,
}) => {
  await breakStorage(context, 'is missing');
  await context.addInitScript(() => {
    Object.defineProperty(window, 'localStorage', { value: null });
  });
  await service.faults([{ status: 503 }]);
  await page.goto(site.page('/', site.tagged({}, listening)));
  await track(page, names(5));
  await expect.poll(() => statusOf(page)).toMatchObject({ waiting: 5, paused: 'backoff' });
  await page.evaluate(() => analytics.stop());
  const drops = await heard(page, 'drop');
  expect(drops.map(({ reason, record }) => [reason, !!record])).toEqual(
    Array(5).fill(['outbox-full', true]),
  );
  expect(await statusOf(page)).toMatchObject({ paused: 'not-started', waiting: 0 });
});
