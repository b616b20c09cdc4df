import type { Page } from '@playwright/test';
import { CHANNEL, expect, PROJECT, test } from './support/test.js';

// What the other tests rely on to fail: that a stray record, a trace in a page and a lost cache are seen.

const BLANK = '<!doctype html><meta charset="utf-8"><title>blank</title>';

/** Stores an event by a plain fetch from a page. */
const post = (page: Page, { url, token }: { url: string; token: string }, event: string) =>
  page.evaluate(
    async ({ url, token, body }) => {
      const response = await fetch(`${url}/v1/event`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return { status: response.status, body: (await response.json()) as unknown };
    },
    { url, token, body: { project: PROJECT, channel: CHANNEL, event } },
  );

test.describe('service', () => {
  test('says what came never, once and twice', async ({ page, service, site }) => {
    await page.goto(site.page('/a.html', BLANK));
    for (const name of ['fine', 'double', 'double', 'stray']) await post(page, service, name);
    await expect(service.holds({ events: ['fine', 'double', 'missing'] })).rejects.toThrow(
      [
        '  fine     came once      wanted once',
        '+ double   came twice     wanted once',
        '- missing  came never     wanted once',
        '+ stray    came once      wanted never',
      ].join('\n'),
    );
    await expect(service.neverTwice(['fine', 'double', 'stray'])).rejects.toThrow('double');
    await service.clear();
    await post(page, service, 'fine');
    expect(await service.neverTwice(['fine', 'missing'])).toEqual(['fine']);
  });
});

test.describe('guest', () => {
  test('sees console lines, errors, rejections and globals @smoke', async ({
    page,
    guest,
    site,
  }) => {
    const script = `
      console.debug('a line');
      setTimeout(() => { throw new Error('an error') });
      Promise.reject(new Error('a rejection'));
      addEventListener('unhandledrejection', (event) => event.preventDefault());
      Promise.reject(new Error('a muted rejection'));
      var leaked = 1;
    `;
    await page.goto(site.page('/a.html', `${BLANK}<script>${script}</script>`));
    await expect
      .poll(async () => {
        await guest.inspect(page.context());
        return guest.problems().join('\n');
      })
      .toMatch(/muted/);
    const problems = guest.problems().join('\n');
    expect(problems).toContain('console.debug: a line');
    expect(problems).toContain('page error: an error');
    expect(problems).toContain('unhandled rejection: Error: a rejection');
    expect(problems).toContain('unhandled rejection: Error: a muted rejection');
    expect(problems).toContain('new global `leaked`');
    expect(() => guest.verify()).toThrow('Not a good guest');
    guest.allow(/./);
    guest.verify();
  });
});

test.describe('profile', () => {
  test('is watched like any other page', async ({ profile, guest, site }) => {
    const page = (await profile.open()).pages()[0]!;
    await page.goto(site.page('/a.html', `${BLANK}<script>var leaked = 1</script>`));
    await profile.close();
    expect(guest.problems().join()).toContain('new global `leaked`');
    guest.allowGlobals('leaked');
    guest.allow(/`leaked`/);
  });
});

test('turns off in Chromium all that Playwright does, and more', async ({
  playwright,
  browserName,
  launchOptions,
}) => {
  const server = await playwright[browserName].launchServer(launchOptions);
  const [theirs, ours, ...others] = (server.process().spawnargs ?? [])
    .filter((argument) => argument.startsWith('--disable-features='))
    .map((argument) => argument.slice('--disable-features='.length).split(','));
  await server.close();
  expect(others).toEqual([]);
  expect(ours).toEqual(expect.arrayContaining([...theirs!, 'WebUIOmniboxPopup']));
});

test.describe('back/forward cache', () => {
  test('restores a page instead of loading it again @smoke', async ({ bfcache, site }) => {
    const listen = `<script>addEventListener('pageshow', (event) => {
      document.title = event.persisted ? 'restored' : 'loaded';
    })</script>`;
    const page = await (await bfcache.open()).newPage();
    await page.goto(site.page('/a.html', BLANK + listen));
    await expect(page).toHaveTitle('loaded');
    await page.goto(site.page('/b.html', BLANK));
    await bfcache.back(page);
    await expect.poll(() => page.evaluate(() => document.title)).toBe('restored');
  });
});
