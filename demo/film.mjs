/**
 * Films the stage of the demo for the README, while the tour is played, in light and dark, from the last build:
 *
 *     node demo/film.mjs
 */
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright';
import sharp from 'sharp';
import { startDemo } from './dist/demo.js';
import { findChromium } from '../e2e/support/find-browser.mjs';

const PICTURES = fileURLToPath(new URL('../docs/pictures/', import.meta.url));
/** High enough for the whole stage. */
const SIZE = { width: 1020, height: 1_000 };
/** Around the stage. */
const MARGIN = 12;
const FRAMES_A_SECOND = 5;
const END_MS = 3_000;
const PLAYED_MS = 90_000;
/**
 * The encoder leaves out of a frame what hardly differs from the frame before. The lower the quality, the more it leaves
 * out: at 40, half of a bar stayed amber that had turned dark red.
 */
const QUALITY = 75;

/** Takes pictures of the stage as it changes, each with its time, until the tour is over. */
const shoot = async (url, colorScheme) => {
  const browser = await chromium.launch({ executablePath: findChromium() });
  try {
    const context = await browser.newContext({ viewport: SIZE, colorScheme });
    const page = await context.newPage();
    await page.addInitScript(() => localStorage.setItem('demo seen', 'yes'));
    await page.goto(url);
    await page.getByText('All is well.').waitFor();
    const { y, height } = await page.locator('.stage').boundingBox();
    const clip = { top: Math.floor(y) - MARGIN, height: Math.ceil(height) + 2 * MARGIN };
    const frames = [];
    const session = await context.newCDPSession(page);
    session.on('Page.screencastFrame', ({ data, metadata, sessionId }) => {
      frames.push({ picture: Buffer.from(data, 'base64'), ms: metadata.timestamp * 1_000 });
      void session.send('Page.screencastFrameAck', { sessionId });
    });
    await session.send('Page.startScreencast', { format: 'png' });
    await page.getByRole('button', { name: 'Play all' }).click();
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    await page.getByRole('button', { name: 'Play all' }).waitFor({ timeout: PLAYED_MS });
    await page.waitForTimeout(500);
    await session.send('Page.stopScreencast');
    return Promise.all(
      frames.map(async ({ picture, ms }) => ({
        picture: await sharp(picture)
          .extract({ left: 0, width: SIZE.width, ...clip })
          .png()
          .toBuffer(),
        ms,
      })),
    );
  } finally {
    await browser.close();
  }
};

/** As many frames a second as wanted: of each moment the last picture. The end comes first: it is what a still shows. */
const atEvenTimes = (frames) => {
  const first = frames[0].ms;
  const slots = new Map();
  for (const { picture, ms } of frames)
    slots.set(Math.floor(((ms - first) / 1_000) * FRAMES_A_SECOND), picture);
  const taken = [...slots].sort(([a], [b]) => a - b);
  const [, end] = taken.at(-1);
  const played = taken.slice(0, -1).map(([slot, picture], at) => ({
    picture,
    ms: ((taken[at + 1][0] - slot) * 1_000) / FRAMES_A_SECOND,
  }));
  return [{ picture: end, ms: END_MS }, ...played];
};

const folder = mkdtempSync(join(tmpdir(), 'film-'));
const anyPort = { port: 0, nextFree: false };
const database = join(folder, 'film.db');
const demo = await startDemo({ page: anyPort, service: anyPort, database, token: 'film' });
try {
  mkdirSync(PICTURES, { recursive: true });
  for (const colorScheme of ['light', 'dark']) {
    const frames = atEvenTimes(await shoot(demo.url, colorScheme));
    const file = join(PICTURES, `tour-${colorScheme}.webp`);
    await sharp(
      frames.map(({ picture }) => picture),
      { join: { animated: true } },
    )
      .webp({ quality: QUALITY, effort: 4, delay: frames.map(({ ms }) => Math.round(ms)), loop: 0 })
      .toFile(file);
    // For those who want no motion.
    if (colorScheme === 'light')
      await sharp(frames[0].picture)
        .webp({ quality: 70 })
        .toFile(join(PICTURES, 'still-light.webp'));
    console.log(`${file}: ${frames.length} frames, ${Math.ceil(statSync(file).size / 1_000)} kB`);
  }
} finally {
  await demo.close();
  rmSync(folder, { recursive: true, force: true });
}
