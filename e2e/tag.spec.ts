import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { htmlPage, inline } from './support/html.js';
import type { Service } from './support/service.js';
import { setupOf } from './support/setup-of.js';
import { scriptTag, stubTag } from './support/tagged.js';
import { CHANNEL, expect, PROJECT, test } from './support/test.js';

test.describe('the tag', () => {
  test('works with `async`, with `defer` and without, in the head and in the body', async ({
    page,
    service,
    site,
  }) => {
    const all: string[] = [];
    for (const attributes of ['async', 'defer', '']) {
      for (const place of ['head', 'body'] as const) {
        const how = `${attributes || 'plain'} ${place}`;
        const early = `analytics.identify('${how}'); analytics.event('early ${how}')`;
        const tag = stubTag() + inline(early) + scriptTag(setupOf(service), { attributes });
        await page.goto(site.page(`/${how}`, htmlPage({ [place]: tag })));
        await page.evaluate((how) => {
          analytics.event(`late ${how}`);
          return analytics.flush();
        }, how);
        await expect.poll(() => page.evaluate(() => analytics.status().delivered)).toBe(3);
        all.push(how);
      }
    }
    const events = all.flatMap((how) => [`early ${how}`, `late ${how}`]);
    await service.holds({ events, identifies: all }, { pages: [page] });
    for (const { event, user_id } of await service.events())
      expect(event.replace(/^\w+ /, '')).toBe(user_id);
  });

  test('works without the stub, for the scripts after it', async ({ page, service, site }) => {
    const tag = scriptTag(setupOf(service), { attributes: '' });
    site.page('/', htmlPage({ head: tag, body: inline(`analytics.event('after')`) }));
    await page.goto(site.url + '/');
    await service.holds({ events: ['after'] }, { pages: [page] });
  });

  test('works with its integrity hash, as the build prints it', async ({
    page,
    guest,
    service,
    site,
  }) => {
    guest.allow(/outbox-(relay|auto)\.js did not load/); // the other tags that are printed
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
