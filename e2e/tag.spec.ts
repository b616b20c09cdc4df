import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Page } from '@playwright/test';
import { isBrowserNoise } from './support/browser-noise.js';
import { readDist } from './support/dist.js';
import type { Service } from './support/service.js';
import { statusOf } from './support/status-of.js';
import { scriptTag, stubTag } from './support/tagged.js';
import { CHANNEL, expect, PROJECT, test } from './support/test.js';

const setupOf = ({ url, token }: Service) => ({
  baseUrl: url,
  token,
  project: PROJECT,
  channel: CHANNEL,
});

const htmlPage = ({ head = '', body = '' }: { head?: string; body?: string }): string =>
  `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>A page</title><link rel="icon" href="data:,">${head}</head>
<body><h1>A page</h1>${body}</body>
</html>`;

const inline = (code: string, nonce = ''): string =>
  `<script${nonce && ` nonce="${nonce}"`}>${code}</script>`;

/** Lines that scripts of the page write to the console from now on, such as `error: message`. */
const consoleOf = (page: Page): string[] => {
  const lines: string[] = [];
  page.on('console', (message) => {
    if (!isBrowserNoise(message)) lines.push(`${message.type()}: ${message.text()}`);
  });
  return lines;
};

const pageTask = (page: Page) =>
  page.evaluate(() => new Promise<void>((done) => void setTimeout(done)));

test.describe('the tag', () => {
  for (const attributes of ['async', 'defer', '']) {
    for (const place of ['head', 'body'] as const) {
      const how = `${attributes || 'without async and defer'}, in the ${place}`;
      test(`works ${how}`, async ({ page, service, site }) => {
        const tag =
          stubTag() +
          inline(`analytics.identify('user_1'); analytics.event('early')`) +
          scriptTag(setupOf(service), { attributes });
        site.page('/', htmlPage({ [place]: tag }));
        await page.goto(site.url + '/');
        await page.evaluate(() => analytics.event('late'));
        await service.holds(
          { events: ['early', 'late'], identifies: ['user_1'] },
          { pages: [page] },
        );
        expect((await service.events()).map(({ user_id }) => user_id)).toEqual([
          'user_1',
          'user_1',
        ]);
      });
    }
  }

  test('works without the stub, for the scripts after it', async ({ page, service, site }) => {
    const tag = scriptTag(setupOf(service), { attributes: '' });
    site.page('/', htmlPage({ head: tag, body: inline(`analytics.event('after')`) }));
    await page.goto(site.url + '/');
    await service.holds({ events: ['after'] }, { pages: [page] });
  });

  test('works with its integrity hash, as the build prints it', async ({ page, service, site }) => {
    const script = fileURLToPath(new URL('../scripts/print-tag.mjs', import.meta.url));
    const printed = execFileSync(process.execPath, [script], { encoding: 'utf8' });
    const snippet = printed
      .slice(printed.indexOf('<script>'))
      .replace('https://YOUR-SITE', `${site.otherUrl}/dist`)
      .replace('https://SERVICE', service.url)
      .replace('"TOKEN"', `"${service.token}"`)
      .replace('"PROJECT"', `"${PROJECT}"`)
      .replace('"CHANNEL"', `"${CHANNEL}"`);
    expect(snippet).toMatch(/integrity="sha384-[\w+/]{64}" crossorigin="anonymous"/);
    site.headers('/dist/outbox.js', { 'access-control-allow-origin': '*' });
    site.page('/', htmlPage({ head: snippet, body: inline(`analytics.event('early')`) }));
    await page.goto(site.url + '/');
    await service.holds({ events: ['early'] }, { pages: [page] });
    expect(await page.evaluate(() => analytics.status().delivered)).toBe(1);
  });

  test('does not run when its file is another than the hash says', async ({
    page,
    guest,
    service,
    site,
  }) => {
    guest.allow(/Failed to find a valid digest in the 'integrity' attribute/);
    const hash = `sha384-${'A'.repeat(64)}`;
    const tag = scriptTag(setupOf(service), {
      attributes: `integrity="${hash}" crossorigin="anonymous"`,
    });
    site.page('/', htmlPage({ head: tag }));
    await page.goto(site.url + '/');
    expect(await page.evaluate(() => 'analytics' in window)).toBe(false);
  });
});

test.describe('a Content Security Policy', () => {
  const NONCE = 'r4nd0m';
  const policyFor = ({ url }: Service) => ({
    'content-security-policy': [
      `script-src 'nonce-${NONCE}'`,
      `connect-src ${url}`,
      `require-trusted-types-for 'script'`,
    ].join('; '),
  });
  /** Keeps what was violated in the title, which is no global. */
  const listen = inline(
    `document.title = '';
    addEventListener('securitypolicyviolation', (event) => {
      document.title += event.violatedDirective + ' ';
    })`,
    NONCE,
  );

  test('with a nonce and trusted types is not violated', async ({ page, service, site }) => {
    const head =
      listen +
      stubTag({ nonce: NONCE }) +
      inline(`analytics.event('early')`, NONCE) +
      scriptTag(setupOf(service), { nonce: NONCE });
    site.page('/', htmlPage({ head }), policyFor(service));
    await page.goto(site.url + '/');
    await page.evaluate(() => analytics.event('late'));
    await service.holds({ events: ['early', 'late'] }, { pages: [page] });
    expect(await page.evaluate(() => analytics.status().storage)).toBe('indexeddb');
    expect(await page.title()).toBe('');
  });

  test('that is violated is noticed by that test', async ({ page, guest, service, site }) => {
    guest.allow(/requires 'TrustedScript' assignment/);
    const head = listen + inline('document.title = "ran"') + inline('eval("1")', NONCE);
    site.page('/', htmlPage({ head }), policyFor(service));
    const failed = page.waitForEvent('pageerror');
    await page.goto(site.url + '/');
    guest.allow(new RegExp((await failed).message.slice(0, 40)));
    await expect(page).toHaveTitle(/script-src-elem/);
    await expect(page).toHaveTitle(/require-trusted-types-for/);
  });
});

test.describe('a tag manager', () => {
  /** What tag managers do: a script element, made and filled in by a script. */
  const inject = (data: Record<string, unknown>, after = ''): string =>
    inline(`setTimeout(() => {
      const script = document.createElement('script');
      script.async = true;
      script.src = '/dist/outbox.js';
      Object.assign(script.dataset, ${JSON.stringify(data)});
      ${after}
      document.head.append(script);
    })`);

  test('can inject the tag with its options', async ({ page, service, site }) => {
    const head = stubTag() + inline(`analytics.event('early')`) + inject(setupOf(service));
    site.page('/', htmlPage({ head }));
    await page.goto(site.url + '/');
    await service.holds({ events: ['early'] }, { pages: [page] });
  });

  test('can inject the tag bare, with `init` called on the stub', async ({
    page,
    service,
    site,
  }) => {
    const init = `analytics.init(${JSON.stringify(setupOf(service))})`;
    const head =
      stubTag() +
      inline(`analytics.event('first'); ${init}; analytics.event('second')`) +
      inject({});
    site.page('/', htmlPage({ head }));
    await page.goto(site.url + '/');
    await service.holds({ events: ['first', 'second'] }, { pages: [page] });
  });

  test('can inject the tag bare, without a stub, with `init` called once it is there', async ({
    page,
    service,
    site,
  }) => {
    const init = `analytics.init(${JSON.stringify(setupOf(service))})`;
    const onload = `script.onload = () => { analytics.event('first'); ${init}; }`;
    site.page('/', htmlPage({ head: inject({}, onload) }));
    await page.goto(site.url + '/');
    await service.holds({ events: ['first'] }, { pages: [page] });
  });
});

test.describe('loaded twice', () => {
  test('runs once, each event once', async ({ page, service, site }) => {
    const tag = stubTag() + inline(`analytics.event('early')`) + scriptTag(setupOf(service));
    const head = tag + tag.replace('early', 'early too');
    const body = scriptTag(setupOf(service), { attributes: '' }) + inline(`analytics.event('now')`);
    site.page('/', htmlPage({ head, body }));
    await page.goto(site.url + '/');
    await page.evaluate(() => analytics.event('late'));
    await service.holds({ events: ['early', 'early too', 'now', 'late'] }, { pages: [page] });
    expect(await page.evaluate(() => analytics.status().delivered)).toBe(4);
  });

  test('keeps the first one when the second comes much later', async ({ page, service, site }) => {
    site.page('/', site.tagged());
    await page.goto(site.url + '/');
    const isSame = await page.evaluate(async () => {
      const first = analytics;
      analytics.event('before');
      const script = document.createElement('script');
      script.src = '/dist/outbox.js?again';
      script.dataset.project = 'another';
      const loaded = new Promise((done) => script.addEventListener('load', done));
      document.head.append(script);
      await loaded;
      analytics.event('after');
      return first === analytics;
    });
    expect(isSame).toBe(true);
    await service.holds({ events: ['before', 'after'] }, { pages: [page] });
    expect((await service.events()).map(({ project }) => project)).toEqual([PROJECT, PROJECT]);
  });
});

test.describe('calls made long before the script arrives', () => {
  /** A page whose script is on its way; answers with what lets it arrive. */
  const openEarly = async (
    { page, site }: { page: Page; site: { url: string; hold: (path: string) => () => void } },
    path = '/',
  ) => {
    const release = site.hold('/dist/outbox.js');
    await page.goto(site.url + path, { waitUntil: 'commit' });
    await page.waitForFunction(() => 'analytics' in window);
    return async () => {
      release();
      await page.waitForFunction(() => Symbol.for('analytics-outbox') in analytics);
    };
  };

  test('keep their order and their own times', async ({ page, service, site }) => {
    site.page('/', site.tagged());
    const arrive = await openEarly({ page, site });
    const times = await page.evaluate(async () => {
      const times: Record<string, number> = {};
      const say = async (name: string, fields?: object) => {
        times[name] = Date.now();
        analytics.event(name, fields);
        await new Promise((done) => setTimeout(done, 20));
      };
      await say('anonymous');
      analytics.identify('user_1', { plan: 'pro' });
      await say('one of user_1', { tags: { n: 1 } });
      await say('two of user_1', { icon: '🎉' });
      analytics.reset();
      await say('anonymous again');
      analytics.identify('user_2');
      await say('one of user_2');
      await say('dated', { timestamp: '2020-02-02T02:02:02.020Z' });
      return times;
    });
    const arrivedAt = await page.evaluate(() => Date.now());
    await arrive();
    await service.holds(
      { events: Object.keys(times), identifies: ['user_1', 'user_2'] },
      { pages: [page] },
    );
    const events = await service.events();
    const byName = Object.fromEntries(events.map((event) => [event.event, event]));
    for (const [name, time] of Object.entries(times)) {
      const stamped = Date.parse(byName[name]!.timestamp);
      if (name === 'dated') expect(stamped).toBe(Date.parse('2020-02-02T02:02:02.020Z'));
      else {
        expect(Math.abs(stamped - time)).toBeLessThanOrEqual(25); // a loaded machine
        expect(stamped).toBeLessThan(arrivedAt);
      }
    }
    expect(Object.fromEntries(events.map(({ event, user_id }) => [event, user_id]))).toEqual({
      anonymous: null,
      'one of user_1': 'user_1',
      'two of user_1': 'user_1',
      'anonymous again': null,
      'one of user_2': 'user_2',
      dated: 'user_2',
    });
    const sent = (await service.requests()).map(({ body }) => body as Record<string, unknown>);
    const namesOf = (user: string) =>
      sent.filter(({ user_id }) => user_id === user).map(({ event }) => event ?? 'identify');
    // The identify first; the events behind it may overtake each other.
    expect(namesOf('user_1')[0]).toBe('identify');
    expect(namesOf('user_2')[0]).toBe('identify');
    expect(byName['one of user_1']).toMatchObject({ tags: { n: 1 } });
    expect(byName['two of user_1']).toMatchObject({ icon: '🎉' });
  });

  test('keep their times over an hour', async ({ page, service, site }) => {
    site.page('/', site.tagged());
    await page.clock.install({ time: '2030-01-01T10:00:00.000Z' });
    const arrive = await openEarly({ page, site });
    await page.evaluate(() => void analytics.event('at ten'));
    await page.clock.fastForward('01:00:00');
    await arrive();
    await page.evaluate(() => analytics.event('at eleven'));
    await page.clock.fastForward('00:05');
    await service.holds({ events: ['at ten', 'at eleven'] }, { pages: [page] });
    const hours = (await service.events()).map(({ event, timestamp }) => [
      event,
      timestamp.slice(0, 16),
    ]);
    expect(Object.fromEntries(hours)).toEqual({
      'at ten': '2030-01-01T10:00',
      'at eleven': '2030-01-01T11:00',
    });
  });

  test('keep what they were given, though the page changes it afterwards', async ({
    page,
    service,
    site,
  }) => {
    site.page('/', site.tagged());
    const arrive = await openEarly({ page, site });
    await page.evaluate(() => {
      const fields = { tags: { step: 1 } };
      analytics.event('first', fields);
      fields.tags.step = 2;
      analytics.event('second', fields);
      fields.tags.step = 3;
    });
    await arrive();
    await service.holds({ events: ['first', 'second'] }, { pages: [page] });
    const steps = (await service.events()).map(({ event, tags }) => [event, tags.step]);
    expect(Object.fromEntries(steps)).toEqual({ first: 1, second: 2 });
  });

  test('may have an argument that is undefined', async ({ page, service, site }) => {
    site.page('/', site.tagged());
    const arrive = await openEarly({ page, site });
    await page.evaluate(() => {
      analytics.identify('user_1', undefined);
      analytics.event('early', undefined);
    });
    await arrive();
    await page.evaluate(() => {
      analytics.identify('user_2', undefined);
      analytics.event('late', undefined);
    });
    await service.holds(
      { events: ['early', 'late'], identifies: ['user_1', 'user_2'] },
      { pages: [page] },
    );
  });

  test('survive values that JSON cannot carry', async ({ page, service, site }) => {
    site.page('/', site.tagged());
    const arrive = await openEarly({ page, site });
    await page.evaluate(() => {
      const cyclic: Record<string, unknown> = {};
      cyclic.self = cyclic;
      analytics.event('before');
      analytics.event('cyclic', { tags: cyclic });
      analytics.event('big', { tags: { n: 1n } });
      analytics.event('throwing', {
        get tags(): object {
          throw new Error('no tags');
        },
      });
      analytics.event('after');
    });
    await arrive();
    await service.holds({ events: ['before', 'after'] }, { pages: [page] });
    expect(await page.evaluate(() => analytics.status().dropped)).toEqual({
      'not-serializable': 3,
    });
  });

  test('are heard by listeners, and answered', async ({ page, service, site }) => {
    site.page('/', site.tagged());
    const arrive = await openEarly({ page, site });
    const early = page.evaluate(async () => {
      const heard: string[] = [];
      analytics.on('record', ({ body }) =>
        heard.push((JSON.parse(body) as { event: string }).event),
      );
      analytics.event('early');
      const { delivered } = await analytics.flush();
      return { heard, delivered };
    });
    await arrive();
    expect(await early).toEqual({ heard: ['early'], delivered: 1 });
    await service.holds({ events: ['early'] }, { pages: [page] });
  });

  test('settle when they are awaited', async ({ page, service, site }) => {
    site.page('/', site.tagged());
    const arrive = await openEarly({ page, site });
    await page.evaluate(() => {
      const call = async () => {
        await analytics.identify('user_1');
        await analytics.event('early');
        await analytics.reset();
        document.title = 'went on';
      };
      void call();
    });
    await arrive();
    await expect(page).toHaveTitle('went on');
    await service.holds({ events: ['early'], identifies: ['user_1'] }, { pages: [page] });
  });

  test('store and send nothing after a denial of consent', async ({ page, service, site }) => {
    site.page('/', site.tagged());
    const arrive = await openEarly({ page, site });
    await page.evaluate(() => {
      analytics.setConsent('denied');
      analytics.identify('user_1');
      analytics.event('secret');
    });
    await arrive();
    await pageTask(page);
    const status = await statusOf(page);
    expect(status).toMatchObject({
      consent: 'denied',
      dropped: { 'consent-denied': 2 },
      waiting: 0,
    });
    await service.holds({ events: [], identifies: [] }, { pages: [page] });
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('user_1');
  });

  test('hold everything in memory after consent was put off', async ({ page, service, site }) => {
    const spy = inline(`{
      const { open } = IDBFactory.prototype;
      IDBFactory.prototype.open = function (...args) {
        document.title = 'opened storage';
        return open.apply(this, args);
      };
    }`);
    site.page('/', site.tagged({}, { head: spy }));
    const arrive = await openEarly({ page, site });
    await page.evaluate(() => {
      analytics.setConsent('pending');
      analytics.identify('user_1');
      analytics.event('held');
    });
    await arrive();
    await service.holds({ events: [], identifies: [] });
    expect(await statusOf(page)).toMatchObject({
      consent: 'pending',
      storage: 'none',
      waiting: 2,
    });
    expect(await page.title()).toBe('A page');
    expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([]);
    await page.evaluate(() => analytics.setConsent('granted'));
    await service.holds({ events: ['held'], identifies: ['user_1'] }, { pages: [page] });
    expect(await page.title()).toBe('opened storage');
  });

  test('may be followed by calls on a reference taken before', async ({ page, service, site }) => {
    const take = inline(`{
      const taken = window.analytics;
      const { event } = taken;
      addEventListener('click', () => {
        taken.event('by the object');
        event('by the function');
      });
    }`);
    site.page('/', site.tagged({}, { body: take }));
    const arrive = await openEarly({ page, site });
    await page.evaluate(() => void analytics.event('early'));
    await arrive();
    await page.mouse.click(5, 5);
    await service.holds(
      { events: ['early', 'by the object', 'by the function'] },
      { pages: [page] },
    );
  });

  test('disturb nobody when the script never arrives', async ({ page, service, site }) => {
    site.page('/', site.tagged({}, { src: '/blocked.js' }));
    await page.goto(site.url + '/');
    await page.evaluate(() => {
      analytics.init({ baseUrl: '' } as never);
      analytics.identify('user_1');
      analytics.event('lost');
      void analytics.flush();
      analytics.on('drop', () => undefined);
      analytics.setConsent('granted');
      analytics.reset();
    });
    await service.holds({ events: [], identifies: [] });
  });
});

test.describe('the global', () => {
  const FOREIGN = inline(
    `window.analytics = { mine: true, event() { throw new Error('foreign') } }`,
  );
  const TAKEN = /window\.analytics is taken by another script/;

  for (const stub of [true, false]) {
    test(`of another script is left alone, with one warning, ${stub ? 'with' : 'without'} our stub`, async ({
      page,
      guest,
      service,
      site,
    }) => {
      guest.allow(TAKEN);
      const lines = consoleOf(page);
      site.page('/', site.tagged({}, { stub, head: FOREIGN }));
      await page.goto(site.url + '/');
      expect(await page.evaluate(() => Object.keys(window.analytics))).toEqual(['mine', 'event']);
      expect(lines).toEqual([
        'warning: analytics-outbox: window.analytics is taken by another script; set data-global to use another name',
      ]);
      await service.holds({ events: [] });
    });
  }

  test('of another script is left alone though it is no object', async ({ page, guest, site }) => {
    guest.allow(TAKEN);
    const lines = consoleOf(page);
    site.page('/', site.tagged({}, { stub: false, head: inline(`window.analytics = 'UA-1'`) }));
    await page.goto(site.url + '/');
    expect(await page.evaluate('analytics')).toBe('UA-1');
    expect(lines).toEqual([expect.stringMatching(TAKEN)]);
  });

  for (const [how, take] of [
    ['is read-only', `Object.defineProperty(window, 'analytics', { value: undefined })`],
    ['holds a frozen object', `window.analytics = Object.freeze({ calls: [] })`],
  ] as const) {
    test(`that ${how} is left alone, with one warning`, async ({ page, guest, service, site }) => {
      guest.allow(TAKEN);
      const lines = consoleOf(page);
      site.page('/', site.tagged({}, { stub: false, head: inline(take) }));
      await page.goto(site.url + '/');
      expect(lines).toEqual([expect.stringMatching(TAKEN)]);
      await service.holds({ events: [] });
    });
  }

  test('is `analytics` where `data-global` names none', async ({ page, service, site }) => {
    site.page('/', site.tagged({ global: '' }));
    await page.goto(site.url + '/');
    await page.evaluate(() => void analytics.event('one'));
    await service.holds({ events: ['one'] }, { pages: [page] });
  });

  test('may be another, beside a foreign one', async ({ page, guest, service, site }) => {
    guest.allowGlobals('outbox');
    const stub = inline(readDist('stub.js').replace('"analytics"', '"outbox"'));
    const head =
      FOREIGN +
      stub +
      inline(`outbox.event('early')`) +
      scriptTag({ ...setupOf(service), global: 'outbox' });
    site.page('/', htmlPage({ head }));
    await page.goto(site.url + '/');
    await page.evaluate('outbox.event("late")');
    await service.holds({ events: ['early', 'late'] });
    expect(await page.evaluate(() => 'mine' in analytics)).toBe(true);
    expect(await page.evaluate('outbox.status().waiting')).toBe(0);
  });

  test('may be another, and then leaves `analytics` free', async ({
    page,
    guest,
    service,
    site,
  }) => {
    guest.allowGlobals('outbox');
    const tag = scriptTag({ ...setupOf(service), global: 'outbox' }, { attributes: '' });
    site.page('/', htmlPage({ head: tag, body: inline(`outbox.event('after')`) }));
    await page.goto(site.url + '/');
    await service.holds({ events: ['after'] });
    expect(await page.evaluate(() => 'analytics' in window)).toBe(false);
  });

  test('is not taken by an element that has its name as id', async ({ page, service, site }) => {
    const body =
      '<section id="analytics"></section>' +
      stubTag() +
      inline(`analytics.event('early')`) +
      scriptTag(setupOf(service));
    site.page('/', htmlPage({ body }));
    await page.goto(site.url + '/');
    await service.holds({ events: ['early'] }, { pages: [page] });
  });
});
