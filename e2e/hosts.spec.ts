import { fileURLToPath } from 'node:url';
import type { Page } from '@playwright/test';
import { names } from './support/names.js';
import { setupOf } from './support/setup-of.js';
import type { Site } from './support/site.js';
import { statusOf } from './support/status-of.js';
import { scriptTag } from './support/tagged.js';
import { CHANNEL, expect, test } from './support/test.js';
import { track } from './support/track.js';

const inline = (script: () => void): string => `<script>(${script.toString()})()</script>`;

test.describe('where the page has no randomness to give, because `crypto`', () => {
  const breakages: Record<string, () => void> = {
    'is missing': () => Object.defineProperty(window, 'crypto', { value: undefined }),
    'throws when it is read': () =>
      Object.defineProperty(window, 'crypto', {
        get: () => {
          throw new Error('no crypto here');
        },
      }),
    throws: () => {
      crypto.getRandomValues = () => {
        throw new Error('no randomness here');
      };
    },
    'returns nothing': () => {
      crypto.getRandomValues = () => undefined as never;
    },
  };

  for (const [how, breakCrypto] of Object.entries(breakages)) {
    test(`${how}, delivers each call once, with an id of its own`, async ({
      page,
      service,
      site,
    }) => {
      await page.goto(
        site.page('/', site.tagged({ idempotencyKey: true }, { head: inline(breakCrypto) })),
      );
      await track(page, names(40));
      await service.holds({ events: names(40) }, { pages: [page] });
      const ids = (await service.events()).map(({ idempotency_key }) => idempotency_key);
      expect(new Set(ids).size).toBe(40);
      for (const id of ids) expect(id).toMatch(/^[\w-]+$/);
    });
  }
});

test.describe('on a page whose scripts', () => {
  const habits: Record<string, string> = {
    'have a constant called `URL`': `const URL = 'https://shop.example'`,
    'hide whether the browser is online': `
      Object.defineProperty(navigator, 'onLine', { value: undefined })`,
    'say for ever that it is offline': `
      Object.defineProperty(navigator, 'onLine', { value: false })`,
    'leave no idle moment': `{
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        const end = performance.now() + 20;
        while (performance.now() < end);
        port2.postMessage(0);
      };
      port2.postMessage(0);
    }`,
  };

  for (const [habit, script] of Object.entries(habits)) {
    test(`${habit}, delivers each call as it was made`, async ({ page, service, site }) => {
      const head = `<script>${script}</script>`;
      const body = `<script>analytics.event('early', { tags: { n: 1 } })</script>`;
      const began = Date.now();
      await page.goto(site.page('/', site.tagged({}, { head, body })));
      await page.waitForFunction(() => Symbol.for('analytics-outbox') in analytics);
      await page.evaluate(() => {
        analytics.identify('user_1');
        analytics.event('late', { icon: '🎉' });
      });
      await service.holds({ events: ['early', 'late'], identifies: ['user_1'] }, { pages: [page] });
      const events = await service.events();
      const [early, late] = ['early', 'late'].map((name) =>
        events.find(({ event }) => event === name),
      );
      const plain = { channel: CHANNEL, description: null, notify: false };
      expect(early).toMatchObject({ ...plain, icon: null, tags: { n: 1 }, user_id: null });
      expect(late).toMatchObject({ ...plain, icon: '🎉', tags: {}, user_id: 'user_1' });
      for (const { timestamp } of [early!, late!]) {
        expect(Date.parse(timestamp)).toBeGreaterThanOrEqual(began);
        expect(Date.parse(timestamp)).toBeLessThanOrEqual(Date.now());
      }
    });
  }
});

/** As far as these tests need zone.js. */
interface Zone {
  current: Zone;
  fork: (spec: object) => Zone;
  run: (work: () => void) => void;
}

interface AppWindow {
  Zone: Zone;
  [app: symbol]: { zone: Zone; hasMacrotasks: boolean };
}

const APP = 'an app';

test.describe('set up in a zone of zone.js, as in an Angular app,', () => {
  const ZONE_JS = fileURLToPath(new URL('../node_modules/zone.js/bundles', import.meta.url));

  /** A page with an app whose zone tells what is pending the way Angular's own does. */
  const openApp = async (page: Page, site: Site) => {
    site.mount('/zone.js/', ZONE_JS);
    const zoneJs = '<script src="/zone.js/zone.umd.min.js"></script>';
    const head = zoneJs + scriptTag({}, { attributes: '' });
    await page.goto(site.page('/', `<!doctype html><title>App</title>${head}<h1>App</h1>`));
    await page.evaluate((key) => {
      const page = window as unknown as AppWindow;
      const app = { zone: page.Zone.current, hasMacrotasks: false };
      app.zone = app.zone.fork({
        name: 'app',
        onHasTask: (
          delegate: { hasTask: (target: Zone, state: object) => void },
          current: Zone,
          target: Zone,
          state: { change: string; macroTask: boolean },
        ) => {
          delegate.hasTask(target, state);
          if (current === target && state.change === 'macroTask')
            app.hasMacrotasks = state.macroTask;
        },
      });
      page[Symbol.for(key)] = app;
    }, APP);
  };

  const track = (page: Page, setup: object, events: readonly string[]) =>
    page.evaluate(
      ([key, setup, events]) =>
        (window as unknown as AppWindow)[Symbol.for(key)]!.zone.run(() => {
          analytics.init(setup as never);
          for (const event of events) analytics.event(event);
        }),
      [APP, setup, events] as const,
    );

  const isStable = (page: Page) =>
    page.evaluate((key) => !(window as unknown as AppWindow)[Symbol.for(key)]!.hasMacrotasks, APP);

  test.beforeEach(async ({ page, guest, site }) => {
    await openApp(page, site);
    const ofZoneJs = await page.evaluate(() =>
      Object.getOwnPropertyNames(window).filter((name) => /^(Zone$|__)/.test(name)),
    );
    // One more for each kind of listener on the window.
    const kinds = ['pagehide', 'pageshow', 'online', 'storage', 'load', 'beforeunload'];
    const names = kinds.map((kind) => `__zone_symbol__${kind}false`);
    guest.allowGlobals(...ofZoneJs, ...names, '__zone_symbol__ON_PROPERTYbeforeunload');
  });

  test('leaves the app stable once all is delivered', async ({ page, service }) => {
    await track(page, setupOf(service), names(3));
    await service.holds({ events: names(3) }, { pages: [page] });
    await expect.poll(() => isStable(page)).toBe(true);
    // An app with a timer of its own is not: so this looks at the right thing.
    await page.evaluate((key) => {
      (window as unknown as AppWindow)[Symbol.for(key)]!.zone.run(
        () => void setTimeout(() => undefined, 3_600_000),
      );
    }, APP);
    expect(await isStable(page)).toBe(false);
  });

  test('leaves the app stable while a service that fails is waited for', async ({
    page,
    service,
  }) => {
    await service.faults([{ status: 503, headers: { 'retry-after': '5' } }]);
    await track(page, setupOf(service), names(3));
    await expect
      .poll(() => statusOf(page))
      .toMatchObject({ waiting: 3, inFlight: 0, paused: 'backoff' });
    expect(await isStable(page)).toBe(true);
    await service.faults([]);
    await service.holds({ events: names(3) }, { pages: [page] });
  });

  test('leaves the app stable while the service does not answer', async ({ page, service }) => {
    await service.faults([{ hang: true }]);
    // With it, a request starts in the task that asks for it.
    const setup = { ...setupOf(service), idempotencyKey: true, timeout: 2_000 };
    await page.evaluate(
      ([key, setup]) =>
        (window as unknown as AppWindow)[Symbol.for(key)]!.zone.run(() => {
          analytics.init(setup);
          analytics.event('sent by `flush`');
          void analytics.flush();
          analytics.event('sent by `init` with other options');
          analytics.init({ ...setup, flushInterval: 500 });
        }),
      [APP, setup] as const,
    );
    await expect.poll(() => statusOf(page)).toMatchObject({ inFlight: 2 });
    expect(await isStable(page)).toBe(true);
    await service.faults([]);
    const events = ['sent by `flush`', 'sent by `init` with other options'];
    await service.holds({ events }, { pages: [page] });
  });
});
