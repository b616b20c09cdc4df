import { fileURLToPath } from 'node:url';
import { htmlPage } from './support/html.js';
import { names } from './support/names.js';
import { setupOf } from './support/setup-of.js';
import { statusOf } from './support/status-of.js';
import { scriptTag } from './support/tagged.js';
import { expect, test } from './support/test.js';

const ZONE_JS = fileURLToPath(new URL('../node_modules/zone.js/bundles', import.meta.url));
const APP = 'an app';

/** As far as this test needs zone.js. */
interface Zone {
  current: Zone;
  fork: (spec: object) => Zone;
  run: (work: () => void) => void;
}
interface AppWindow {
  Zone: Zone;
  [app: symbol]: { zone: Zone; hasMacrotasks: boolean };
}

test('leaves an app stable whose zone it is set up in, as in Angular, whatever becomes of its requests', async ({
  page,
  guest,
  service,
  site,
}) => {
  site.mount('/zone.js/', ZONE_JS);
  const head = `<script src="/zone.js/zone.umd.min.js"></script>${scriptTag({}, { attributes: '' })}`;
  await page.goto(site.page('/', htmlPage({ head })));
  // A zone that tells what is pending the way Angular's own does.
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
        if (current === target && state.change === 'macroTask') app.hasMacrotasks = state.macroTask;
      },
    });
    page[Symbol.for(key)] = app;
  }, APP);
  const ofZoneJs = await page.evaluate(() =>
    Object.getOwnPropertyNames(window).filter((name) => /^(Zone$|__)/.test(name)),
  );
  // One more for each kind of listener on the window.
  const kinds = [
    'pagehide',
    'pageshow',
    'online',
    'storage',
    'load',
    'beforeunload',
    'click',
    'submit',
  ];
  const more = [...kinds.map((kind) => `${kind}false`), 'ON_PROPERTYbeforeunload', 'keydowntrue'];
  guest.allowGlobals(...ofZoneJs, ...more.map((name) => `__zone_symbol__${name}`));

  // With keys, a request starts in the task that asks for it.
  const setup = { ...setupOf(service), idempotencyKey: true, timeout: 1_000 };
  const trackIn = (events: readonly string[], options: object = setup) =>
    page.evaluate(
      ([key, options, events]) =>
        (window as unknown as AppWindow)[Symbol.for(key)]!.zone.run(() => {
          analytics.init(options as never);
          for (const event of events) analytics.event(event);
          void analytics.flush();
        }),
      [APP, options, events] as const,
    );
  const isStable = () =>
    page.evaluate((key) => !(window as unknown as AppWindow)[Symbol.for(key)]!.hasMacrotasks, APP);

  await trackIn(names(3));
  await service.holds({ events: names(3) }, { pages: [page] });
  await expect.poll(isStable).toBe(true);

  await service.faults([{ status: 503, headers: { 'retry-after': '1' } }]);
  await trackIn(names(3, 'refused'));
  const refused = { waiting: 3, inFlight: 0, paused: 'backoff' };
  await expect.poll(() => statusOf(page)).toMatchObject(refused);
  expect(await isStable()).toBe(true);
  await service.faults([]);
  const events = [...names(3), ...names(3, 'refused')];
  await service.holds({ events }, { pages: [page] });

  await service.faults([{ hang: true }]);
  await trackIn(['sent by `flush`']);
  await trackIn(['sent after other options'], { ...setup, flushInterval: 500 });
  await expect.poll(() => statusOf(page)).toMatchObject({ inFlight: 2 });
  expect(await isStable()).toBe(true);
  await service.faults([]);
  events.push('sent by `flush`', 'sent after other options');
  await service.holds({ events }, { pages: [page] });

  // An app with a timer of its own is not: so this looks at the right thing.
  await page.evaluate((key) => {
    (window as unknown as AppWindow)[Symbol.for(key)]!.zone.run(
      () => void setTimeout(() => undefined, 3_600_000),
    );
  }, APP);
  expect(await isStable()).toBe(false);
});
