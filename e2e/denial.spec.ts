import type { Page } from '@playwright/test';
import { heard, listening } from './support/heard.js';
import { inline } from './support/html.js';
import { names } from './support/names.js';
import { setupOf } from './support/setup-of.js';
import { statusOf } from './support/status-of.js';
import { keptBodies, storedEvents } from './support/stored-records.js';
import { CHANNEL, expect, PROJECT, test } from './support/test.js';
import { track } from './support/track.js';

/** Leaves the set-up to the page's own `init`. */
const unset = { baseUrl: undefined, token: undefined, project: undefined, channel: undefined };

const setConsent = (page: Page, consent: 'granted' | 'denied') =>
  page.evaluate((consent) => analytics.setConsent(consent), consent);
const rememberedOn = (page: Page) =>
  page.evaluate(
    (project) => localStorage[`analytics-outbox ${project} consent`] as string,
    PROJECT,
  );

test.describe('`init` with `disabled`', () => {
  /** A page whose records wait, and which then switches its tracker off. */
  const disable = async (page: Page, address: string) => {
    await page.goto(address);
    await track(page, names(5));
    await expect.poll(() => statusOf(page)).toMatchObject({ waiting: 5, inFlight: 0 });
    await expect.poll(() => storedEvents(page)).toHaveLength(5);
    await page.evaluate(() => analytics.init({ disabled: true }));
    expect(await statusOf(page)).toMatchObject({ paused: 'disabled', waiting: 0 });
  };

  test('stops what an earlier `init` began, and leaves what waits to the next page', async ({
    page,
    service,
    site,
  }) => {
    const address = site.page('/', site.tagged());
    await service.faults([{ status: 503 }]);
    await disable(page, address);
    const asked = (await service.requests()).length;
    await service.faults([]);
    await track(page, ['disabled']);
    await page.evaluate(() => analytics.flush());
    // Longer than the first wait after a failure.
    await page.evaluate(() => new Promise((done) => setTimeout(done, 1_500)));
    expect(await service.requests()).toHaveLength(asked);
    await page.goto(address);
    await service.holds({ events: names(5) }, { pages: [page] });
  });

  test('remembers a denial, which deletes what waits', async ({ page, service, site }) => {
    const address = site.page('/', site.tagged());
    await service.faults([{ status: 503 }]);
    await disable(page, address);
    const asked = (await service.requests()).length;
    await service.faults([]);
    await setConsent(page, 'denied');
    expect(await rememberedOn(page)).toBe('refused');
    await page.goto(address);
    expect(await statusOf(page)).toMatchObject({ consent: 'denied', waiting: 0 });
    await expect.poll(() => keptBodies(page)).toEqual([]);
    await track(page, ['denied']);
    await service.holds({ events: [] }, { pages: [page] });
    expect(await service.requests()).toHaveLength(asked);
  });
});

for (const consent of [undefined, 'granted'] as const) {
  const how = consent ? `with \`consent: '${consent}'\`` : 'without `consent`';
  test(`a denial in another tab, made after \`stop()\`, counts for a later \`init\` ${how}`, async ({
    page,
    context,
    service,
    site,
  }) => {
    const address = site.page('/', site.tagged());
    const other = await context.newPage();
    await page.goto(address);
    await other.goto(address);
    await page.evaluate(() => analytics.stop());
    await setConsent(other, 'denied');
    await page.evaluate((options) => analytics.init(options as never), {
      ...setupOf(service),
      consent,
    });
    await track(page, ['denied']);
    expect(await statusOf(page)).toMatchObject({ consent: 'denied', storage: 'none' });
    expect(await rememberedOn(page)).toBe('refused');
    await page.reload();
    await track(page, ['denied']);
    await service.holds({ events: [] }, { pages: [page, other] });
    expect(await service.requests()).toEqual([]);
  });
}

const DENY = `analytics.setConsent('denied')`;
const PLACES: Record<string, { options?: Record<string, string>; script: string }> = {
  beforeSend: {
    options: { beforeSend: 'own' },
    script: `function own(draft) { ${DENY}; return draft; }`,
  },
  context: { options: { context: 'own' }, script: `function own() { ${DENY}; return {}; }` },
  'a listener': { script: `analytics.on('record', () => ${DENY})` },
};
for (const [place, { options, script }] of Object.entries(PLACES)) {
  test(`a denial inside ${place} drops the record, too`, async ({ page, guest, service, site }) => {
    guest.allowGlobals('own');
    const body = `${listening.body}<script>${script}</script>`;
    const address = site.page('/', site.tagged(options, { ...listening, body }));
    await page.goto(address);
    await track(page, ['denied inside']);
    expect(await statusOf(page)).toMatchObject({
      consent: 'denied',
      waiting: 0,
      dropped: { 'consent-denied': 1 },
    });
    expect((await heard(page, 'drop')).map(({ reason }) => reason)).toEqual(['consent-denied']);
    expect(await keptBodies(page)).toEqual([]);
    await page.goto(site.page('/next', site.tagged()));
    await service.holds({ events: [] }, { pages: [page] });
    expect(await service.requests()).toEqual([]);
  });
}

test('a denial that a listener for `storage` makes is the last word', async ({
  page,
  service,
  site,
}) => {
  const body = `${listening.body}<script>analytics.on('storage', () => ${DENY})</script>`;
  await page.goto(site.page('/', site.tagged({}, { ...listening, body })));
  await expect.poll(() => heard(page, 'storage')).not.toEqual([]);
  await track(page, ['denied']);
  expect(await statusOf(page)).toMatchObject({ consent: 'denied', storage: 'none', waiting: 0 });
  await page.evaluate(() => analytics.flush());
  expect(await keptBodies(page)).toEqual([]);
  await service.holds({ events: [] }, { pages: [page] });
});

test('a prerendered page keeps to a denial that another page makes before it is shown', async ({
  page,
  service,
  site,
}) => {
  // Nothing prerenders where a driver looks on, so the page is told that it is.
  const head = inline(`{
    let isPrerendering = true;
    Object.defineProperty(Document.prototype, 'prerendering', { get: () => isPrerendering });
    document.addEventListener('show', () => {
      isPrerendering = false;
      document.dispatchEvent(new Event('prerenderingchange'));
    });
  }`);
  await page.goto(site.page('/', site.tagged({}, { attributes: '', head })));
  await page.evaluate((key) => {
    localStorage[key] = 'refused'; // no `storage` event comes to the page that writes
    document.dispatchEvent(new Event('show'));
  }, `analytics-outbox ${PROJECT} consent`);
  await track(page, ['denied']);
  expect(await statusOf(page)).toMatchObject({ consent: 'denied', storage: 'none' });
  expect(await rememberedOn(page)).toBe('refused');
  await service.holds({ events: [] }, { pages: [page] });
});

test('a denial while a token is asked for leaves nothing behind when that fails', async ({
  page,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged(unset, listening)));
  const keys = await page.evaluate(async (options) => {
    let fail: (error: Error) => void = () => undefined;
    const asked = new Promise<void>((isAsked) => {
      const token = () => {
        isAsked();
        return new Promise<string>((_, reject) => (fail = reject));
      };
      analytics.init({ ...options, token });
    });
    analytics.event('denied');
    void analytics.flush();
    await asked;
    analytics.setConsent('denied');
    fail(new Error('no session'));
    await new Promise((done) => setTimeout(done, 100));
    return Object.keys(localStorage);
  }, setupOf(service));
  expect(keys).toEqual([`analytics-outbox ${PROJECT} consent`]);
  expect(await heard(page, 'error')).toEqual([]);
});

test('a denial that was taken back does not come back with another destination', async ({
  page,
  service,
  site,
}) => {
  const direct = setupOf(service);
  const relay = { relay: '/a', project: PROJECT, channel: CHANNEL };
  const address = site.page('/', site.tagged(unset));
  /** A page that sends there, and has had its database. */
  const open = async (options: object) => {
    await page.goto(address);
    await page.evaluate((options) => analytics.init(options as never), options);
  };
  await open(direct);
  await track(page, ['before']);
  await service.holds({ events: ['before'] }, { pages: [page] });
  await setConsent(page, 'denied');
  await open(relay);
  expect(await statusOf(page)).toMatchObject({ consent: 'denied' });
  await setConsent(page, 'granted');
  await open(direct);
  expect(await statusOf(page)).toMatchObject({ consent: 'granted' });
  await track(page, ['after']);
  await service.holds({ events: ['before', 'after'] }, { pages: [page] });
});

test('a denial lasts for as long as the page, though the site clears its storage', async ({
  page,
  context,
  service,
  site,
}) => {
  const address = site.page('/', site.tagged());
  const other = await context.newPage();
  await page.goto(address);
  await other.goto(address);
  await setConsent(other, 'denied');
  await expect.poll(async () => (await statusOf(page)).consent).toBe('denied');
  await other.evaluate(() => localStorage.clear());
  for (const tab of [page, other]) {
    await track(tab, ['denied']);
    expect(await statusOf(tab)).toMatchObject({ consent: 'denied' });
  }
  await service.holds({ events: [] }, { pages: [page, other] });
});
