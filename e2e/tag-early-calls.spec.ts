import type { Page } from '@playwright/test';
import { inline } from './support/html.js';
import { statusOf } from './support/status-of.js';
import { openEarly } from './support/open-early.js';
import { expect, test } from './support/test.js';

const pageTask = (page: Page) =>
  page.evaluate(() => new Promise<void>((done) => void setTimeout(done)));

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

  test('keep their times over an hour', async ({ page, service, site }) => {
    site.page('/', site.tagged());
    await page.clock.install({ time: '2030-01-01T10:00:00.000Z' });
    const arrive = await hold({ page, site });
    await page.evaluate(() => void analytics.event('at ten'));
    await page.clock.fastForward('01:00:00');
    await arrive();
    await page.evaluate(() => analytics.event('at eleven'));
    await page.clock.fastForward('00:05');
    await service.holds({ events: ['at ten', 'at eleven'] }, { pages: [page] });
    const hours = (await service.events()).map(({ event, timestamp }) => [
      event,
      timestamp.slice(0, 16),
    ]);
    expect(Object.fromEntries(hours)).toEqual({
      'at ten': '2030-01-01T10:00',
      'at eleven': '2030-01-01T11:00',
    });
  });

  test('keep what they were given, though the page changes it afterwards', async ({
    page,
    service,
    site,
  }) => {
    site.page('/', site.tagged());
    const arrive = await hold({ page, site });
    await page.evaluate(() => {
      const fields = { tags: { step: 1 } };
      analytics.event('first', fields);
      fields.tags.step = 2;
      analytics.event('second', fields);
      fields.tags.step = 3;
    });
    await arrive();
    await service.holds({ events: ['first', 'second'] }, { pages: [page] });
    const steps = (await service.events()).map(({ event, tags }) => [event, tags.step]);
    expect(Object.fromEntries(steps)).toEqual({ first: 1, second: 2 });
  });

  test('may have an argument that is undefined', async ({ page, service, site }) => {
    site.page('/', site.tagged());
    const arrive = await hold({ page, site });
    await page.evaluate(() => {
      analytics.identify('user_1', undefined);
      analytics.event('early', undefined);
    });
    await arrive();
    await page.evaluate(() => {
      analytics.identify('user_2', undefined);
      analytics.event('late', undefined);
    });
    await service.holds(
      { events: ['early', 'late'], identifies: ['user_1', 'user_2'] },
      { pages: [page] },
    );
  });

  test('survive values that JSON cannot carry', async ({ page, service, site }) => {
    site.page('/', site.tagged());
    const arrive = await hold({ page, site });
    await page.evaluate(() => {
      const cyclic: Record<string, unknown> = {};
      cyclic.self = cyclic;
      analytics.event('before');
      analytics.event('cyclic', { tags: cyclic });
      analytics.event('big', { tags: { n: 1n } });
      analytics.event('throwing', {
        get tags(): object {
          throw new Error('no tags');
        },
      });
      analytics.event('after');
    });
    await arrive();
    await service.holds({ events: ['before', 'after'] }, { pages: [page] });
    expect(await page.evaluate(() => analytics.status().dropped)).toEqual({
      'not-serializable': 3,
    });
  });

  test('are heard by listeners, and answered', async ({ page, service, site }) => {
    site.page('/', site.tagged());
    const arrive = await hold({ page, site });
    const early = page.evaluate(async () => {
      const heard: string[] = [];
      analytics.on('record', ({ body }) =>
        heard.push((JSON.parse(body) as { event: string }).event),
      );
      analytics.event('early');
      const { delivered } = await analytics.flush();
      return { heard, delivered };
    });
    await arrive();
    expect(await early).toEqual({ heard: ['early'], delivered: 1 });
    await service.holds({ events: ['early'] }, { pages: [page] });
  });

  test('settle when they are awaited', async ({ page, service, site }) => {
    site.page('/', site.tagged());
    const arrive = await hold({ page, site });
    await page.evaluate(() => {
      const call = async () => {
        await analytics.identify('user_1');
        await analytics.event('early');
        await analytics.reset();
        document.title = 'went on';
      };
      void call();
    });
    await arrive();
    await expect(page).toHaveTitle('went on');
    await service.holds({ events: ['early'], identifies: ['user_1'] }, { pages: [page] });
  });

  test('store and send nothing after a denial of consent', async ({ page, service, site }) => {
    site.page('/', site.tagged());
    const arrive = await hold({ page, site });
    await page.evaluate(() => {
      analytics.setConsent('denied');
      analytics.identify('user_1');
      analytics.event('secret');
    });
    await arrive();
    await pageTask(page);
    const status = await statusOf(page);
    expect(status).toMatchObject({
      consent: 'denied',
      dropped: {}, // the stub has thrown them away
      waiting: 0,
    });
    await service.holds({ events: [], identifies: [] }, { pages: [page] });
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('user_1');
  });

  test('hold everything in memory after consent was put off', async ({ page, service, site }) => {
    const spy = inline(`{
      const { open } = IDBFactory.prototype;
      IDBFactory.prototype.open = function (...args) {
        document.title = 'opened storage';
        return open.apply(this, args);
      };
    }`);
    site.page('/', site.tagged({}, { head: spy }));
    const arrive = await hold({ page, site });
    await page.evaluate(() => {
      analytics.setConsent('pending');
      analytics.identify('user_1');
      analytics.event('held');
    });
    await arrive();
    await service.holds({ events: [], identifies: [] });
    expect(await statusOf(page)).toMatchObject({
      consent: 'pending',
      storage: 'none',
      waiting: 2,
    });
    expect(await page.title()).toBe('A page');
    expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([]);
    await page.evaluate(() => analytics.setConsent('granted'));
    await service.holds({ events: ['held'], identifies: ['user_1'] }, { pages: [page] });
    expect(await page.title()).toBe('opened storage');
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

  test('disturb nobody when the script never arrives', async ({ page, service, site }) => {
    site.page('/', site.tagged({}, { src: '/blocked.js' }));
    await page.goto(site.url + '/');
    await page.evaluate(() => {
      analytics.init({ baseUrl: '' } as never);
      analytics.identify('user_1');
      analytics.event('lost');
      void analytics.flush();
      analytics.on('drop', () => undefined);
      analytics.setConsent('granted');
      analytics.reset();
    });
    await service.holds({ events: [], identifies: [] });
  });
});
