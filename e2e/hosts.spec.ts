import { fileURLToPath } from 'node:url';
import type { Page } from '@playwright/test';
import { names } from './support/names.js';
import { setupOf } from './support/setup-of.js';
import type { Site } from './support/site.js';
import { statusOf } from './support/status-of.js';
import { scriptTag } from './support/tagged.js';
import { expect, test } from './support/test.js';
import { track } from './support/track.js';

const inline = (script: () => void): string => `<script>(${script.toString()})()</script>`;

/** What scripts of a page do to its randomness. */
const BREAKAGES: Record<string, () => void> = {
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

test('delivers each call once, with an id of its own, where `crypto` is missing or broken', async ({
  page,
  service,
  site,
}) => {
  const options = { idempotencyKey: true };
  const all: string[] = [];
  for (const [how, breakCrypto] of Object.entries(BREAKAGES)) {
    const head = inline(breakCrypto);
    await page.goto(site.page(`/${how}`, site.tagged(options, { head })));
    await track(page, names(10, how));
    await page.evaluate(() => analytics.flush());
    all.push(...names(10, how));
    await expect.poll(async () => (await statusOf(page)).delivered).toBe(10);
  }
  await service.holds({ events: all }, { pages: [page] });
  const ids = (await service.events()).map(({ idempotency_key }) => idempotency_key);
  expect(new Set(ids).size).toBe(all.length);
  for (const id of ids) expect(id).toMatch(/^[\w-]+$/);
});

test('delivers on a page that has no idle moment', async ({ page, service, site }) => {
  const head = `<script></script>`;
  await page.goto(site.page('/', site.tagged({}, { head })));
  await track(page, names(3));
  await service.holds({ events: names(3) }, { pages: [page] });
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
    const others = ['ON_PROPERTYbeforeunload', 'keydowntrue'].map(
      (name) => `__zone_symbol__${name}`,
    );
    guest.allowGlobals(...ofZoneJs, ...names, ...others);
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
