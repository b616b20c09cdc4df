import { basename } from 'node:path';
import type { Page } from '@playwright/test';
import {
  answering,
  LOCAL,
  openForDeveloper,
  PUBLIC,
  SETUP,
  type Answer,
} from './support/developer-page.js';
import { statusOf } from './support/status-of.js';
import { expect, test } from './support/test.js';

interface Trouble {
  answer?: Answer;
  options?: object;
  before?: (page: Page) => Promise<unknown>;
  /** Meets with the trouble, more than once. */
  meet: (page: Page) => Promise<unknown>;
  /** What a developer reads. */
  lines: RegExp[];
}

const call = (page: Page, ...names: string[]) =>
  page.evaluate((names) => names.forEach((name) => analytics.event(name)), names);

const TROUBLES: Record<string, Trouble> = {
  'wrong calls': {
    meet: async (page) => {
      await call(page, '', '', '');
      await expect.poll(async () => (await statusOf(page)).dropped).toEqual({ 'invalid-call': 3 });
    },
    lines: [
      /^warning: analytics-outbox: a call was dropped \(invalid-call\): `event`: wrong name: give the event's name first$/,
      /: give the event's name first \(2 more\)$/,
    ],
  },
  'no answer at all': {
    answer: (route) => route.abort('blockedbyclient'),
    meet: async (page) => {
      await call(page, 'one');
      await expect
        .poll(async () => (await statusOf(page)).paused, { timeout: 30_000 })
        .toBe('unreachable');
    },
    lines: [
      /^warning: analytics-outbox: nothing answers at http:\/\/in\.example: .*address.*CORS.*blocker/,
    ],
  },
  'no database': {
    before: (page) =>
      page.addInitScript(() => {
        IDBFactory.prototype.open = () => {
          throw new Error('no database today');
        };
      }),
    meet: async (page) => {
      await call(page, 'one');
      await expect.poll(async () => (await statusOf(page)).storage).toBe('memory');
    },
    lines: [
      /^warning: analytics-outbox: records are kept in memory until storage works: no database today$/,
    ],
  },
};

for (const [name, { answer, options, before, meet, lines: wanted }] of Object.entries(TROUBLES)) {
  const given = { ...(answer && { answer }), ...(options && { options }) };

  test(`tells a developer of ${name}, each once`, async ({ page }) => {
    await before?.(page);
    const lines = await openForDeveloper(page, LOCAL[name.length % LOCAL.length]!, given);
    await meet(page);
    await expect
      .poll(() => lines)
      .toEqual(wanted.map((line): unknown => expect.stringMatching(line)));
  });
}

test('says nothing of it in production', async ({ page }) => {
  const { answer, meet } = TROUBLES['no answer at all']!;
  const lines = await openForDeveloper(page, PUBLIC, { answer: answer! });
  await meet(page);
  expect(lines).toEqual([]);
});

test('does not miss an `init` that has come, with `disabled`', async ({ page }) => {
  await page.clock.install();
  const lines = await openForDeveloper(page, LOCAL[0]!, { options: {} });
  await call(page, 'one');
  await page.evaluate(() => analytics.init({ disabled: true }));
  await page.clock.fastForward(60_000);
  expect(lines).toEqual([]);
});

test('tells onError once that nothing answers, and again after it has healed', async ({ page }) => {
  let isDown = true;
  await openForDeveloper(page, PUBLIC, {
    answer: (route) => (isDown ? route.abort('connectionrefused') : answering(200)(route)),
  });
  await page.evaluate(() => {
    document.title = '';
    analytics.on('error', ({ kind }) => (document.title += `${kind} `));
  });
  await call(page, 'one');
  await expect(page).toHaveTitle('unreachable ', { timeout: 30_000 });
  // The next tries fail as well.
  for (let i = 0; i < 3; i++) {
    await page.evaluate(() => dispatchEvent(new Event('online')));
    await page.evaluate(() => analytics.flush());
  }
  await expect(page).toHaveTitle('unreachable ');
  isDown = false;
  await page.evaluate(() => dispatchEvent(new Event('online')));
  await expect.poll(async () => (await statusOf(page)).delivered, { timeout: 30_000 }).toBe(1);
});

test('shows with `debug` a group for each record, at the usual level', async ({ page, guest }) => {
  guest.allow(/./);
  const lines = await openForDeveloper(page, PUBLIC, { options: { ...SETUP, debug: 'true' } });
  await call(page, 'one', 'two');
  await expect.poll(async () => (await statusOf(page)).delivered).toBe(2);
  const titles = () => lines.filter((line) => line.startsWith('startGroupCollapsed: ')).sort();
  await expect
    .poll(titles)
    .toEqual(
      ['one', 'two'].flatMap((name) =>
        ['delivered', 'record'].map(
          (step) => `startGroupCollapsed: analytics-outbox: event "${name}": ${step}`,
        ),
      ),
    );
  expect(lines.filter((line) => /^debug/.test(line))).toEqual([]);
  expect(lines.filter((line) => /^log: sent/.test(line))).toHaveLength(2);
  expect(lines.join()).not.toContain('token');
});

for (const [debug, files] of Object.entries({ false: [], no: ['outbox-dev.js'] }))
  test(`says nothing on a local host with \`data-debug="${debug}"\``, async ({ page, guest }) => {
    guest.allow(/./);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(basename(new URL(request.url()).pathname)));
    const lines = await openForDeveloper(page, LOCAL[0]!, { options: { ...SETUP, debug } });
    await call(page, '', 'two');
    await expect.poll(async () => (await statusOf(page)).delivered).toBe(1);
    expect(asked.filter((file) => file === 'outbox-dev.js')).toEqual(files);
    expect(lines).toEqual([]);
  });
