import { names } from './support/names.js';
import { expect, test } from './support/test.js';

test('delivers 100 events and 3 identifies once, as given, in order @smoke', async ({
  page,
  service,
  site,
}) => {
  // With the options that there are without any.
  await page.goto(site.page('/', site.tagged({ flushInterval: undefined })));
  const calls = await page.evaluate(async () => {
    const times: Record<string, [from: number, to: number]> = {};
    const pause = () => new Promise((done) => setTimeout(done, 3));
    for (let i = 0; i < 100; i++) {
      if (i === 10) analytics.identify('user_1', { plan: 'free' });
      if (i === 40) analytics.identify('user_2', { plan: 'pro', seats: 3 });
      if (i === 70) analytics.identify('user_1', { plan: 'team' });
      const from = Date.now();
      analytics.event(`event ${i}`, {
        description: `number ${i}`,
        icon: '🎉',
        notify: i % 2 === 0,
        tags: { i, nested: { deep: [true, null, 'ä'] } },
      });
      times[`event ${i}`] = [from, Date.now()];
      await pause();
    }
    return times;
  });
  await service.holds(
    { events: names(100), identifies: ['user_1', 'user_2', 'user_1'] },
    { pages: [page] },
  );
  const events = await service.events();
  for (const event of events) {
    const i = Number(event.event.split(' ')[1]);
    expect(event).toMatchObject({
      project: 'p',
      channel: 'c',
      description: `number ${i}`,
      icon: '🎉',
      notify: i % 2 === 0,
      tags: { i, nested: { deep: [true, null, 'ä'] } },
      user_id: i < 10 ? null : i < 40 ? 'user_1' : i < 70 ? 'user_2' : 'user_1',
    });
    const [from, to] = calls[event.event]!;
    expect(Date.parse(event.timestamp)).toBeGreaterThanOrEqual(from);
    expect(Date.parse(event.timestamp)).toBeLessThanOrEqual(to);
    expect(event.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  }
  const identifies = await service.identifies();
  // In order for each user; one user's may overtake another's.
  const given = (user: string) =>
    identifies.filter(({ user_id }) => user_id === user).map(({ properties }) => properties);
  expect(given('user_1')).toEqual([{ plan: 'free' }, { plan: 'team' }]);
  expect(given('user_2')).toEqual([{ plan: 'pro', seats: 3 }]);
  // A user's identify is stored before the events that follow it.
  const requests = await service.requests();
  const firstOf = (wanted: (body: Record<string, unknown>) => boolean) =>
    requests.findIndex(({ body }) => wanted(body as Record<string, unknown>));
  const isIdentify = (body: Record<string, unknown>) => 'properties' in body;
  expect(firstOf((b) => isIdentify(b) && b.user_id === 'user_2')).toBeLessThan(
    firstOf((b) => !isIdentify(b) && b.user_id === 'user_2'),
  );
});
