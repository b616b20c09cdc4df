import type { Page } from '@playwright/test';
import { tally } from './support/tally.js';
import { CHANNEL, expect, PROJECT, test } from './support/test.js';

// The harness itself, without the product: what it promises to the other tests.

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

test.describe('site', () => {
  test('serves a page under two hosts and lets it reach the service', async ({
    page,
    service,
    site,
  }) => {
    await page.goto(site.page('/a.html', BLANK));
    expect(await page.title()).toBe('blank');
    expect(await post(page, service, 'one')).toMatchObject({
      status: 200,
      body: { success: true },
    });
    await page.goto(`${site.otherUrl}/a.html`);
    await post(page, service, 'two');
    await service.holds({ events: ['one', 'two'] }, { pages: [page] });
  });

  test('sends the headers a test asks for', async ({ page, site }) => {
    site.page('/a.html', BLANK, { 'content-security-policy': "connect-src 'none'" });
    await page.goto(`${site.url}/a.html`);
    const blocked = await page.evaluate(() => fetch('/b').catch((error: Error) => error.name));
    expect(blocked).toBe('TypeError');
  });

  test('holds back a file until it is told to let go', async ({ page, site }) => {
    site.file('/late.js', 'document.title = "late"');
    const release = site.hold('/late.js');
    await page.goto(site.page('/a.html', `${BLANK}<script async src="/late.js"></script>`), {
      waitUntil: 'commit',
    });
    await expect.poll(() => site.requests).toContain('GET /late.js');
    expect(await page.title()).toBe('blank');
    release();
    await expect(page).toHaveTitle('late');
  });
});

test.describe('service', () => {
  test('takes faults, and goes on with its database after an outage', async ({
    page,
    service,
    site,
  }) => {
    await page.goto(site.page('/a.html', BLANK));
    await service.faults([{ match: { event: 'refused' }, times: 1, status: 500 }]);
    expect((await post(page, service, 'refused')).status).toBe(500);
    expect((await post(page, service, 'kept')).status).toBe(200);
    await service.stop();
    await expect(post(page, service, 'lost')).rejects.toThrow();
    await service.start();
    expect((await post(page, service, 'after')).status).toBe(200);
    await service.holds({ events: ['kept', 'after'] });
    expect((await service.requests()).length).toBeGreaterThan(0);
  });

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

  test('counts names as often as they are wanted', () => {
    expect(tally(['a', 'a', 'b'], ['b', 'a', 'a']).isExact).toBe(true);
    expect(tally(['a'], [])).toMatchObject({ isExact: false, isOver: false });
    expect(tally(['a'], ['a', 'a'])).toMatchObject({ isExact: false, isOver: true });
  });
});

test.describe('guest', () => {
  test('is content with a page that leaves no trace', async ({ page, guest, site }) => {
    await page.goto(
      site.page(
        '/a.html',
        `${BLANK}<iframe></iframe><b id="named"></b><script>{ let a = 1 }</script>`,
      ),
    );
    await page.evaluate(() => Object.assign(window, { analytics: {} }));
    await guest.inspect(page.context());
    expect(guest.problems()).toEqual([]);
  });

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

  test('lets pass what the browser says of failed requests, but not a page that says the same', async ({
    page,
    guest,
    service,
    site,
  }) => {
    await page.goto(site.page('/a.html', BLANK));
    await service.faults([{ status: 500, headers: { 'access-control-allow-origin': null } }]);
    await post(page, service, 'no answer').catch(() => undefined);
    await service.stop();
    await post(page, service, 'no service').catch(() => undefined);
    expect(guest.problems()).toEqual([]);
    await page.evaluate(() => console.error('Failed to load resource'));
    await expect.poll(() => guest.problems().length).toBe(1);
    guest.allow(/Failed to load resource/);
  });
});

test.describe('profile', () => {
  const remember = (page: Page, value: string) =>
    page.evaluate(
      (value) =>
        new Promise<void>((resolve, reject) => {
          localStorage.setItem('key', value);
          const opening = indexedDB.open('db', 1);
          opening.onupgradeneeded = () => opening.result.createObjectStore('store');
          opening.onsuccess = () => {
            const transaction = opening.result.transaction('store', 'readwrite');
            transaction.objectStore('store').put(value, 'key');
            transaction.oncomplete = () => resolve();
            transaction.onabort = () => reject(transaction.error);
            transaction.commit();
          };
        }),
      value,
    );
  const recall = (page: Page) =>
    page.evaluate(
      () =>
        new Promise<{ local: string | null; indexed: unknown }>((resolve, reject) => {
          const opening = indexedDB.open('db', 1);
          opening.onupgradeneeded = () => reject(new Error('the database is gone'));
          opening.onsuccess = () => {
            const request = opening.result.transaction('store').objectStore('store').get('key');
            request.onsuccess = () =>
              resolve({ local: localStorage.getItem('key'), indexed: request.result as unknown });
          };
        }),
    );

  test('keeps what a page stored through quitting the browser', async ({ profile, site }) => {
    const address = site.page('/a.html', BLANK);
    const first = (await profile.open()).pages()[0]!;
    await first.goto(address);
    await remember(first, 'quit');
    await profile.close();
    const second = (await profile.open()).pages()[0]!;
    await second.goto(address);
    expect(await recall(second)).toEqual({ local: 'quit', indexed: 'quit' });
  });

  test('keeps what was committed through killing the browser', async ({ profile, site }) => {
    const address = site.page('/a.html', BLANK);
    const first = (await profile.open()).pages()[0]!;
    await first.goto(address);
    await remember(first, 'killed');
    await profile.kill();
    const second = (await profile.open()).pages()[0]!;
    await second.goto(address);
    // localStorage reaches the disk only seconds later, so it is not asked for here.
    expect(await recall(second)).toMatchObject({ indexed: 'killed' });
  });

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
