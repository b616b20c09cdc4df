/** `npm run soak`: minutes of 20 events a second in Chromium, with a fault drawn every few seconds. */
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { storedEvents } from '../../e2e/support/stored-records.js';
import { taggedPage } from '../../e2e/support/tagged.js';
import type { Tab } from './engine.js';
import { fatesOf, type Fates } from './fates.js';
import { inspectManners } from './manners.js';
import { endEngine, endSoon } from './limited.js';
import { openEngine } from './open-engine.js';
import { publish } from './publish.js';
import { createDice } from '../random.js';
import { builtNow, today, type SoakSample } from './results.js';
import { SOAK_FAULTS } from './soak-faults.js';
import { createStage, SETUP } from './stage.js';
import { statusOf, waitFor } from './steps.js';

const CALL_EVERY_MS = 50;
const FAULT_MS = 4_000;
const SAMPLE_EVERY_MS = 15_000;
const DRAIN_WITHIN_MS = 300_000;
const STOP = 'analytics-outbox.stop-soak';

// Playwright would close the browsers and go on: runs that broke off by that are no results.
process.on('SIGTERM', () => process.exit(143));

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
  },
});
const minutes = Number(values.minutes);

const random = createDice(Number(values.seed), 'soak').next;

const engine = await openEngine('chromium');
const stage = await createStage(engine);
const { service } = stage;

/** No listeners of ours: what they keep would look like a leak. */
const options = { baseUrl: stage.baseUrl, token: service.token, ...SETUP };
const address = stage.page(
  '/soak',
  taggedPage({ ...options, idempotencyKey: true, timeout: 3_000 }),
);
const tab = await stage.newTab(address);
await waitFor('the tracker', () => tab.evaluate(() => typeof analytics.status === 'function'));

/** Calls at a steady pace; what a slow timer misses is made up for. */
const startCalls = (tab: Tab) =>
  tab.evaluate(
    ([every, stop]) => {
      const started = performance.now();
      let made = 0;
      const timer = setInterval(() => {
        for (; made < (performance.now() - started) / every; made++)
          analytics.event(`event ${made}`);
      }, every);
      const end = () => {
        clearInterval(timer);
        return made;
      };
      Object.defineProperty(window, Symbol.for(stop), { value: end });
    },
    [CALL_EVERY_MS, STOP] as const,
  );

const stopCalls = (tab: Tab) =>
  tab.evaluate(
    (stop) => (window as unknown as Record<symbol, () => number>)[Symbol.for(stop)]!(),
    STOP,
  );

/** Playwright keeps every page visible, so the page is told that it is not. It stands alone. */
const pretendVisibility = (state: string): void => {
  Object.defineProperty(Document.prototype, 'visibilityState', {
    configurable: true,
    value: state,
  });
  document.dispatchEvent(new Event('visibilitychange'));
};

const faults: Record<string, number> = {};
const playFault = async () => {
  const fault = SOAK_FAULTS[Math.floor(random() * SOAK_FAULTS.length)]!;
  faults[fault.name] = (faults[fault.name] ?? 0) + 1;
  if ('rules' in fault) await service.faults(fault.rules);
  else if (fault.name === 'offline') await stage.offline(true);
  else await tab.evaluate(pretendVisibility, 'hidden');
  await pause(FAULT_MS);
  await service.faults([]);
  await tab.evaluate(pretendVisibility, 'visible');
  if (fault.name === 'offline') await stage.offline(false);
};

const started = performance.now();
const seconds = () => (performance.now() - started) / 1_000;

const sample = async (): Promise<SoakSample> => {
  const { heapBytes, listeners, nodes } = await stage.browser.measure(tab);
  const { storageBytes, keys } = await tab.evaluate(async () => ({
    storageBytes: (await navigator.storage.estimate()).usage ?? 0,
    keys: Object.keys(localStorage).length,
  }));
  const records = (await storedEvents(tab)).length;
  const { waiting } = await statusOf(tab);
  const at = seconds();
  return { seconds: at, heapBytes, listeners, nodes, storageBytes, records, keys, waiting };
};

const samples: SoakSample[] = [];
const takeSample = async () => {
  const taken = await sample();
  samples.push(taken);
  const { heapBytes, listeners, storageBytes, records, waiting } = taken;
  console.log(
    `${taken.seconds.toFixed(0)} s: heap ${(heapBytes / 1e6).toFixed(2)} MB, listeners ${listeners}, storage ${(storageBytes / 1e6).toFixed(2)} MB, records ${records}, waiting ${waiting}`,
  );
};

await takeSample();
await startCalls(tab);
const end = minutes * 60;
const sampling = (async () => {
  while (seconds() < end) {
    await pause(SAMPLE_EVERY_MS);
    await takeSample();
  }
})();
while (seconds() < end) await playFault();
await sampling;

const calls = await stopCalls(tab);
await stage.offline(true);
await stage.offline(false);
await waitFor(
  'the delivery of all',
  async () => {
    const { waiting, inFlight, elsewhere = 0 } = await statusOf(tab);
    return waiting + inFlight + elsewhere === 0;
  },
  DRAIN_WITHIN_MS,
);
await takeSample();

const made = Array.from({ length: calls }, (_, i) => `event ${i}`);
const stored = (await service.events()).map(({ event }) => event);
const fates: Fates = fatesOf({ made, stored, unknown: [], dropped: [], waiting: [] });
const { problems } = await inspectManners(stage);
const { version } = engine;
await publish((results) => {
  results.soak = {
    minutes,
    calls,
    fates,
    faults,
    samples,
    problems,
    version,
    date: today(),
    build: builtNow(),
  };
});
console.log(`${calls} calls: once ${fates.once}, twice ${fates.twice}, never ${fates.never}`);
for (const problem of problems) console.log(problem);
if (fates.once !== calls || fates.strange || problems.length) process.exitCode = 1;
await stage.dispose();
await endEngine(engine);
endSoon();
