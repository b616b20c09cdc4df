import type { Page } from '@playwright/test';
import { fillShelf } from './support/fill-shelf.js';
import { statusOf } from './support/status-of.js';
import { expect, test } from './support/test.js';
import { track } from './support/track.js';

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

test('stop() ends all that listens, ticks or asks', async ({ page, service, site }) => {
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
  // The developers' file has two, on a local host.
  const ofDevelopers = ['document securitypolicyviolation', 'window keydown'];
  const ofVisitors = (name: string) => !ofDevelopers.includes(name);
  expect((await standingIn(page)).filter(ofVisitors)).toEqual([]);
  expect(await statusOf(page)).toMatchObject({ paused: 'not-started', inFlight: 0, waiting: 0 });
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
