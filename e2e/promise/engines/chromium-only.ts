import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { BrowserContext } from '@playwright/test';

const UNDRIVEN = [
  '--headless=new',
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--disable-popup-blocking',
  // An extension that has other tabs discarded.
  '--disable-features=DisableLoadExtensionCommandLineSwitch',
  `--load-extension=${fileURLToPath(new URL('discarder', import.meta.url))}`,
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
