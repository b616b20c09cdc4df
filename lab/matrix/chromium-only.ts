import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import type { BrowserContext, CDPSession, Page } from '@playwright/test';

const UNDRIVEN = [
  '--headless=new',
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--disable-popup-blocking',
  // An extension that has other tabs discarded.
  '--disable-features=DisableLoadExtensionCommandLineSwitch',
  `--load-extension=${resolve('lab/matrix/discarder')}`,
];

/** Starts Chromium on a page, with no protocol that drives it. */
export const startUndriven = (executablePath: string, folder: string, address: string): void => {
  const place = `--user-data-dir=${folder}`;
  spawn(executablePath, [...UNDRIVEN, place, address], { detached: true, stdio: 'ignore' });
};

/** Stops all service workers of a context, and waits until they have stopped. */
export const stopChromiumWorkers = async (context: BrowserContext): Promise<void> => {
  const session = await context.newCDPSession(context.pages()[0]!);
  const stopped = new Promise<void>((resolve) => {
    session.on('ServiceWorker.workerVersionUpdated', ({ versions }) => {
      if (versions.length && versions.every(({ runningStatus }) => runningStatus === 'stopped')) {
        resolve();
      }
    });
  });
  await session.send('ServiceWorker.enable');
  await session.send('ServiceWorker.stopAllWorkers');
  await stopped;
  await session.detach();
};

const sessions = new WeakMap<Page, CDPSession>();

/** Sizes of a page after a forced collection. One session a page, or each look would leave something. */
export const measureInChromium = async (page: Page) => {
  const session = sessions.get(page) ?? (await page.context().newCDPSession(page));
  if (!sessions.has(page)) await session.send('Performance.enable');
  sessions.set(page, session);
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  const valueOf = (name: string) => metrics.find((metric) => metric.name === name)!.value;
  return {
    heapBytes: valueOf('JSHeapUsedSize'),
    listeners: valueOf('JSEventListeners'),
    nodes: valueOf('Nodes'),
  };
};
