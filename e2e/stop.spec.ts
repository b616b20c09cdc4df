import type { Page } from '@playwright/test';
import { fillShelf } from './support/fill-shelf.js';
import { names } from './support/names.js';
import type { Service } from './support/service.js';
import { statusOf } from './support/status-of.js';
import { RELAY } from './support/relay.js';
import { CHANNEL, expect, PROJECT, test, type Mode } from './support/test.js';
import { track } from './support/track.js';

const setupOf = (mode: Mode, { url, token }: Service) => ({
  ...(mode === 'relay' ? { relay: RELAY } : { baseUrl: url, token }),
  project: PROJECT,
  channel: CHANNEL,
});

/** Keeps what is listening or ticking in a page. */
const watchPage = (page: Page) =>
  page.addInitScript(() => {
    const standing = new Set<string>();
    Object.defineProperty(window, Symbol.for('standing'), { value: standing, configurable: true });
    const { addEventListener: add, removeEventListener: remove } = EventTarget.prototype;
    const nameOf = (target: unknown, type: string) =>
      `${target === document ? 'document' : 'window'} ${type}`;
    const isPage = (target: unknown) => target === document || target === window || !target;
    EventTarget.prototype.addEventListener = function (this: unknown, ...args: [string, never]) {
      if (isPage(this)) standing.add(nameOf(this, args[0]));
      return add.apply(this ?? window, args);
    };
    EventTarget.prototype.removeEventListener = function (this: unknown, ...args: [string, never]) {
      if (isPage(this)) standing.delete(nameOf(this, args[0]));
      return remove.apply(this ?? window, args);
    };
    const { setInterval: set, clearInterval: clear, clearTimeout: clearToo } = window;
    window.setInterval = ((...args: Parameters<typeof set>) => {
      const id = set(...args);
      standing.add(`interval ${id}`);
      return id;
    }) as typeof set;
    window.clearInterval = (id) => {
      standing.delete(`interval ${id}`);
      clear(id);
    };
    window.clearTimeout = (id) => {
      standing.delete(`interval ${id}`);
      clearToo(id);
    };
  });

const standingIn = (page: Page): Promise<string[]> =>
  page.evaluate(() => [
    ...(window as unknown as Record<symbol, Set<string>>)[Symbol.for('standing')]!,
  ]);

test('stop() ends all that listens, ticks or asks @relay', async ({ page, service, site }) => {
  await watchPage(page);
  await page.goto(site.page('/', site.tagged({}, { stub: false, attributes: '' })));
  await service.faults([{ hang: true }]);
  await track(page, ['hangs']);
  await expect.poll(async () => (await statusOf(page)).inFlight).toBe(1);
  expect(await standingIn(page)).toEqual(
    expect.arrayContaining(['document visibilitychange', 'window pagehide']),
  );
  const ended = page.waitForEvent('requestfailed', (request) => request.url().includes('/v1/'));
  await page.evaluate(() => analytics.stop());
  await ended;
  // The developers' file has one, on a local host.
  const ofVisitors = (name: string) => name !== 'document securitypolicyviolation';
  expect((await standingIn(page)).filter(ofVisitors)).toEqual([]);
  expect(await statusOf(page)).toMatchObject({ paused: 'not-started', inFlight: 0, waiting: 0 });
});

test('stop() leaves what waits to `init`, which starts anew @relay', async ({
  page,
  service,
  site,
  mode,
}) => {
  await page.goto(site.page('/', site.tagged()));
  await service.faults([{ status: 503 }]);
  await track(page, names(30));
  await expect.poll(async () => (await service.requests()).length).toBeGreaterThan(0);
  await expect.poll(async () => (await statusOf(page)).inFlight).toBe(0);
  await page.evaluate(() => {
    analytics.stop();
    analytics.stop();
    analytics.event('between');
  });
  expect(await statusOf(page)).toMatchObject({ paused: 'not-started', waiting: 1 });
  await service.faults([]);
  await page.evaluate((options) => analytics.init(options as never), setupOf(mode, service));
  await service.holds({ events: [...names(30), 'between'] }, { pages: [page] });
});

test('stop() leaves what waits to the next page @relay', async ({ page, service, site }) => {
  await page.goto(site.page('/', site.tagged()));
  await service.faults([{ status: 503 }]);
  await track(page, names(30));
  await expect.poll(async () => (await service.requests()).length).toBeGreaterThan(0);
  await expect.poll(async () => (await statusOf(page)).inFlight).toBe(0);
  await page.evaluate(() => analytics.stop());
  await service.faults([]);
  await page.goto(site.page('/next', site.tagged()));
  await service.holds({ events: names(30) }, { pages: [page] });
});

test('stop() writes what was called in the same task, though localStorage is full', async ({
  page,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged()));
  await expect.poll(async () => (await statusOf(page)).storage).toBe('indexeddb');
  await fillShelf(page);
  await page.evaluate(() => {
    analytics.event('last');
    analytics.stop();
  });
  await page.goto(site.page('/next', site.tagged()));
  await service.holds({ events: ['last'] }, { pages: [page] });
});

test('a flush whose request stop() ends settles all the same @relay', async ({
  page,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged()));
  await service.faults([{ hang: true }]);
  await track(page, ['hangs']);
  await expect.poll(async () => (await statusOf(page)).inFlight).toBe(1);
  const result = await page.evaluate(async () => {
    const flushed = analytics.flush();
    await new Promise((done) => setTimeout(done));
    analytics.stop();
    return flushed;
  });
  expect(result).toMatchObject({ delivered: 0, rejected: 0 });
});

test('callbacks written anew for `init` do not lift a pause', async ({ page, service, site }) => {
  const setup = { baseUrl: service.url, project: PROJECT, channel: CHANNEL };
  await page.goto(
    site.page(
      '/',
      site.tagged({ baseUrl: undefined, token: undefined, project: undefined, channel: undefined }),
    ),
  );
  const init = (token: string) =>
    page.evaluate(
      (options) => analytics.init({ ...options, onDrop: () => undefined, now: () => Date.now() }),
      { ...setup, token },
    );
  await init('wrong');
  await track(page, ['waits']);
  await expect.poll(async () => (await statusOf(page)).paused).toBe('setup');
  const asked = (await service.requests()).length;
  const ANEW = 10;
  for (let i = 0; i < ANEW; i++) await init('wrong');
  await page.evaluate(() => analytics.flush());
  await expect.poll(async () => (await statusOf(page)).paused).toBe('setup');
  // The page looks again by itself now and then, but for none of these.
  expect((await service.requests()).length).toBeLessThan(asked + ANEW);
  // Another token is another set-up.
  await init(service.token);
  await service.holds({ events: ['waits'] }, { pages: [page] });
});
