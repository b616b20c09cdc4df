import { basename } from 'node:path';
import type { Page } from '@playwright/test';
import { isBrowserNoise, isHelp } from './browser-noise.js';
import { readDist } from './dist.js';
import { taggedPage } from './tagged.js';
import { CHANNEL, FLUSH_INTERVAL_MS, PROJECT } from './test.js';

const SERVICE = 'http://in.example';
export const SETUP = {
  baseUrl: SERVICE,
  token: 'token',
  project: PROJECT,
  channel: CHANNEL,
  flushInterval: FLUSH_INTERVAL_MS,
};
/** Hosts of a developer, and of a site that visitors see. */
export const LOCAL = 'http://localhost:5173';
export const PUBLIC = 'http://shop.example';

interface Shown {
  /** Options of the tag. */
  options?: object;
  /** The whole page, in place of one with that tag. */
  html?: string;
}

/** A page on that host; neither host nor service has to exist. Answers with the console's lines from then on. */
export const openForDeveloper = async (
  page: Page,
  origin: string,
  { options = SETUP, html = taggedPage({ ...options }) }: Shown = {},
): Promise<string[]> => {
  const lines: string[] = [];
  page.on('console', (message) => {
    if (!isBrowserNoise(message) && !isHelp(message))
      lines.push(`${message.type()}: ${message.text()}`);
  });
  const headers = {
    'access-control-allow-origin': '*',
    'access-control-allow-headers': 'authorization, content-type',
  };
  await page.route(`${SERVICE}/**`, (route) => route.fulfill({ headers, body: '{}' }));
  await page.route(`${origin}/**`, (route) =>
    new URL(route.request().url()).pathname === '/'
      ? route.fulfill({ contentType: 'text/html', body: html })
      : route.fulfill({
          contentType: 'text/javascript',
          body: readDist(basename(new URL(route.request().url()).pathname)),
        }),
  );
  await page.goto(`${origin}/`);
  return lines;
};
