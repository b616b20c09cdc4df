import { setTimeout as pause } from 'node:timers/promises';
import type { CDPSession } from '@playwright/test';
import type { FaultRule } from '../../demo/server/fault-rules.js';
import { statusOf } from '../support/status-of.js';
import { storedEvents } from '../support/stored-records.js';
import { expect, test } from '../support/test.js';

const MINUTES = Number(process.env.MINUTES ?? 10);
const CALL_EVERY_MS = 50;
const FAULT_MS = 4_000;
const DRAIN_WITHIN_MS = 300_000;
const STOP = 'analytics-outbox.stop-soak';
/** What a page may take for good: code that was compiled meanwhile, but no part of 12,000 events. */
const HEAP_GROWTH_BYTES = 1_500_000;

/** What goes wrong for some seconds each, again and again. */
const FAULTS: readonly (FaultRule[] | 'offline' | 'hidden')[] = [
  [],
  [{ status: 500 }],
  [{ status: 503, headers: { 'retry-after': '1' } }],
  [{ status: 429, headers: { 'retry-after': '2' } }],
  [{ status: 408, times: 5 }],
  [{ hang: true, times: 3 }],
  [{ hang: true, after: true, times: 3 }],
  [{ reset: true, times: 3 }],
  [{ reset: true, after: true, times: 3 }],
  [{ delay: 800 }],
  'offline',
  'hidden',
];

/** Playwright keeps every page visible, so the page is told that it is not. It stands alone. */
const pretendVisibility = (state: string): void => {
  Object.defineProperty(Document.prototype, 'visibilityState', {
    configurable: true,
    value: state,
  });
  document.dispatchEvent(new Event('visibilitychange'));
};

/** Sizes of a page after a forced collection. */
const measure = async (session: CDPSession) => {
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  const valueOf = (name: string) => metrics.find((metric) => metric.name === name)!.value;
  return { heap: valueOf('JSHeapUsedSize'), listeners: valueOf('JSEventListeners') };
};

test('minutes of 20 events a second, with a fault every few seconds: each once, and nothing piles up @soak', async ({
  page,
  context,
  service,
  site,
}) => {
  const ms = MINUTES * 60_000;
  test.setTimeout(ms + 2 * DRAIN_WITHIN_MS);
  // No listeners of ours: what they keep would look like a leak.
  await page.goto(site.page('/', site.tagged({ idempotencyKey: true, timeout: 3_000 })));
  await page.waitForFunction(() => analytics.status().storage === 'indexeddb');
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable');
  const before = await measure(session);

  // At a steady pace; what a slow timer misses is made up for.
  await page.evaluate(
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
  const ends = performance.now() + ms;
  while (performance.now() < ends) {
    const fault = FAULTS[Math.floor(Math.random() * FAULTS.length)]!;
    if (fault === 'offline') await context.setOffline(true);
    else if (fault === 'hidden') await page.evaluate(pretendVisibility, 'hidden');
    else await service.faults(fault);
    await pause(FAULT_MS);
    await service.faults([]);
    await page.evaluate(pretendVisibility, 'visible');
    await context.setOffline(false);
  }
  const calls = await page.evaluate(
    (stop) => (window as unknown as Record<symbol, () => number>)[Symbol.for(stop)]!(),
    STOP,
  );

  const events = Array.from({ length: calls }, (_, i) => `event ${i}`);
  await service.holds({ events }, { pages: [page], within: DRAIN_WITHIN_MS });
  expect(await statusOf(page)).toMatchObject({ unknown: 0, dropped: {} });
  await expect.poll(() => storedEvents(page)).toEqual([]);
  const after = await measure(session);
  expect(after.heap - before.heap).toBeLessThan(HEAP_GROWTH_BYTES);
  expect(after.listeners - before.listeners).toBeLessThan(10);
});
