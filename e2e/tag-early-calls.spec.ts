import type { Page } from '@playwright/test';
import { inline } from './support/html.js';
import { openEarly } from './support/open-early.js';
import { expect, test } from './support/test.js';

test.describe('calls made long before the script arrives', () => {
  /** A page whose script is on its way; answers with what lets it arrive. */
  const hold = async (
    { page, site }: { page: Page; site: { url: string; hold: (path: string) => () => void } },
    path = '/',
  ) => {
    const release = site.hold('/dist/outbox.js');
    await openEarly(page, site.url + path);
    return async () => {
      release();
      await page.waitForFunction(() => Symbol.for('analytics-outbox') in analytics);
    };
  };

  test('keep their order and their own times', async ({ page, service, site }) => {
    site.page('/', site.tagged());
    const arrive = await hold({ page, site });
    const times = await page.evaluate(async () => {
      const times: Record<string, number> = {};
      const say = async (name: string, fields?: object) => {
        times[name] = Date.now();
        analytics.event(name, fields);
        await new Promise((done) => setTimeout(done, 20));
      };
      await say('anonymous');
      analytics.identify('user_1', { plan: 'pro' });
      await say('one of user_1', { tags: { n: 1 } });
      await say('two of user_1', { icon: '🎉' });
      analytics.reset();
      await say('anonymous again');
      analytics.identify('user_2');
      await say('one of user_2');
      await say('dated', { timestamp: '2020-02-02T02:02:02.020Z' });
      return times;
    });
    const arrivedAt = await page.evaluate(() => Date.now());
    await arrive();
    await service.holds(
      { events: Object.keys(times), identifies: ['user_1', 'user_2'] },
      { pages: [page] },
    );
    const events = await service.events();
    const byName = Object.fromEntries(events.map((event) => [event.event, event]));
    for (const [name, time] of Object.entries(times)) {
      const stamped = Date.parse(byName[name]!.timestamp);
      if (name === 'dated') expect(stamped).toBe(Date.parse('2020-02-02T02:02:02.020Z'));
      else {
        expect(Math.abs(stamped - time)).toBeLessThanOrEqual(25); // a loaded machine
        expect(stamped).toBeLessThan(arrivedAt);
      }
    }
    expect(Object.fromEntries(events.map(({ event, user_id }) => [event, user_id]))).toEqual({
      anonymous: null,
      'one of user_1': 'user_1',
      'two of user_1': 'user_1',
      'anonymous again': null,
      'one of user_2': 'user_2',
      dated: 'user_2',
    });
    const sent = (await service.requests()).map(({ body }) => body as Record<string, unknown>);
    const namesOf = (user: string) =>
      sent.filter(({ user_id }) => user_id === user).map(({ event }) => event ?? 'identify');
    // The identify first; the events behind it may overtake each other.
    expect(namesOf('user_1')[0]).toBe('identify');
    expect(namesOf('user_2')[0]).toBe('identify');
    expect(byName['one of user_1']).toMatchObject({ tags: { n: 1 } });
    expect(byName['two of user_1']).toMatchObject({ icon: '🎉' });
  });

  test('may be followed by calls on a reference taken before', async ({ page, service, site }) => {
    const take = inline(`{
      const taken = window.analytics;
      const { event } = taken;
      addEventListener('click', () => {
        taken.event('by the object');
        event('by the function');
      });
    }`);
    site.page('/', site.tagged({}, { body: take }));
    const arrive = await hold({ page, site });
    await page.evaluate(() => void analytics.event('early'));
    await arrive();
    await page.mouse.click(5, 5);
    await service.holds(
      { events: ['early', 'by the object', 'by the function'] },
      { pages: [page] },
    );
  });
});
