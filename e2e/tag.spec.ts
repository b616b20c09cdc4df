import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { DIST_FOLDER, readDist } from './support/dist.js';
import { htmlPage, inline } from './support/html.js';
import { recipeIn } from './support/recipe.js';
import type { Service } from './support/service.js';
import { setupOf } from './support/setup-of.js';
import type { Site } from './support/site.js';
import { scriptTag, stubTag } from './support/tagged.js';
import { CHANNEL, expect, PROJECT, test } from './support/test.js';

type Setup = ReturnType<typeof setupOf>;

const call = (event: string): string => inline(`analytics.event('${event}')`);

/** A recipe, set up for the test's own service. */
const recipe = (heading: string, language: string, { url, token }: Service): string =>
  recipeIn('tag.md', heading, language)
    .replace('https://in.example.com', url)
    .replace('YOUR_TOKEN', token);

/** What tag managers do: a script element, made and filled in by a script. */
const inject = (data: object, after = ''): string =>
  inline(`setTimeout(() => {
    const script = document.createElement('script');
    script.async = true;
    script.src = '/dist/outbox.js';
    Object.assign(script.dataset, ${JSON.stringify(data)});
    ${after}
    document.head.append(script);
  })`);

/** Ways in which a page carries the tag: its head, its body and what arrives then. */
const CARRIED: Record<
  string,
  (setup: Setup) => { head?: string; body?: string; events: string[] }
> = {
  ...Object.fromEntries(
    ['async', 'defer', ''].flatMap((attributes) =>
      ['head', 'body'].map((place) => [
        `with \`${attributes}\` in the ${place}`,
        (setup: Setup) => ({
          [place]: stubTag() + call('early') + scriptTag(setup, { attributes }),
          events: ['early'],
        }),
      ]),
    ),
  ),
  'without the stub, for the scripts after it': (setup) => ({
    head: scriptTag(setup, { attributes: '' }),
    body: call('after'),
    events: ['after'],
  }),
  'injected by a tag manager, with its options': (setup) => ({
    head: stubTag() + call('early') + inject(setup),
    events: ['early'],
  }),
  'injected bare, with `init` called on the stub': (setup) => {
    const init = inline(`analytics.init(${JSON.stringify(setup)})`);
    return {
      head: stubTag() + call('first') + init + call('second') + inject({}),
      events: ['first', 'second'],
    };
  },
  'injected bare, without a stub, with `init` called once it is there': (setup) => {
    const init = `analytics.init(${JSON.stringify(setup)})`;
    const onload = `script.onload = () => { analytics.event('first'); ${init}; }`;
    return { head: inject({}, onload), events: ['first'] };
  },
  'three times': (setup) => {
    const tag = stubTag() + call('early') + scriptTag(setup);
    return {
      head: tag + tag.replace('early', 'early too'),
      body: scriptTag(setup, { attributes: '' }) + call('now'),
      events: ['early', 'early too', 'now'],
    };
  },
  'beside an element with the name of the global as id': (setup) => ({
    body: `<section id="analytics"></section>${stubTag()}${call('early')}${scriptTag(setup)}`,
    events: ['early'],
  }),
};

for (const [how, make] of Object.entries(CARRIED)) {
  test(`the tag works ${how}`, async ({ page, service, site }) => {
    const { events, ...parts } = make(setupOf(service));
    await page.goto(site.page('/', htmlPage(parts)));
    await page.waitForFunction(() => 'analytics' in window && 'status' in window.analytics);
    await page.evaluate(() => analytics.event('late'));
    await service.holds({ events: [...events, 'late'] }, { pages: [page] });
    expect(await page.evaluate(() => analytics.status().delivered)).toBe(events.length + 1);
  });
}

test('the tag works with its integrity hash, as the build prints it', async ({
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
  await page.goto(site.page('/', htmlPage({ head: snippet, body: call('early') })));
  await service.holds({ events: ['early'] }, { pages: [page] });
  expect(await page.evaluate(() => analytics.status().delivered)).toBe(1);
});

test('a second tag that comes much later leaves the first one as it is', async ({
  page,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged()));
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

test('an import map loads the package without a bundler', async ({ page, service, site }) => {
  site.mount('/vendor/analytics-outbox/dist/', DIST_FOLDER);
  const head = recipe('Import map', 'html', service);
  await page.goto(site.page('/', htmlPage({ head })));
  await service.holds({ events: ['Signed Up'] }, { pages: [page] });
});

test.describe('a Content Security Policy', () => {
  const NONCE = 'r4nd0m';
  const HEADER = 'content-security-policy';
  const strictPolicy = ({ url }: Service) => ({
    [HEADER]: `script-src 'nonce-${NONCE}'; connect-src ${url}; require-trusted-types-for 'script'`,
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
    const early = inline(`analytics.event('early')`, NONCE);
    const tag = scriptTag(setupOf(service), { nonce: NONCE });
    const head = listen + stubTag({ nonce: NONCE }) + early + tag;
    await page.goto(site.page('/', htmlPage({ head }), strictPolicy(service)));
    await page.evaluate(() => analytics.event('late'));
    await service.holds({ events: ['early', 'late'] }, { pages: [page] });
    expect(await page.evaluate(() => analytics.status().storage)).toBe('indexeddb');
    expect(await page.title()).toBe('');
  });

  test('that is violated is noticed by that test', async ({ page, guest, service, site }) => {
    guest.allow(/requires 'TrustedScript' assignment/);
    const head = listen + inline('document.title = "ran"') + inline('eval("1")', NONCE);
    const failed = page.waitForEvent('pageerror');
    await page.goto(site.page('/', htmlPage({ head }), strictPolicy(service)));
    guest.allow(new RegExp((await failed).message.slice(0, 40)));
    await expect(page).toHaveTitle(/script-src-elem/);
    await expect(page).toHaveTitle(/require-trusted-types-for/);
  });

  const TITLE = 'Content Security Policy';
  const policyOf = (service: Service): string =>
    recipe(TITLE, 'http', service).replace('Content-Security-Policy:', '').trim();
  /** A script of the page's own, which calls before the tag's file has come. */
  const CALLS = '<script src="/calls.js"></script>';

  /** As the docs have it: the files at the root of the site. */
  const serve = (site: Pick<Site, 'mount' | 'file'>): void => {
    site.mount('/', DIST_FOLDER);
    site.file('/calls.js', `analytics.event('early')`);
  };

  test('as the docs have it runs the stub inline by its hash', async ({ page, service, site }) => {
    serve(site);
    const tag = recipe(TITLE, 'html', service).replace(/^.*stub\.js.*$/m, '');
    const html = htmlPage({ head: stubTag() + CALLS + tag });
    await page.goto(site.page('/', html, { [HEADER]: policyOf(service) }));
    await service.holds({ events: ['early'] }, { pages: [page] });
  });

  test('with another hash refuses the stub, so that test would notice', async ({
    page,
    guest,
    service,
    site,
  }) => {
    guest.allow(/Content Security Policy/);
    const policy = policyOf(service).replace('sha256-', 'sha256-A');
    const refused = page.waitForEvent('console', (message) => /inline script/.test(message.text()));
    await page.goto(site.page('/', htmlPage({ head: stubTag() }), { [HEADER]: policy }));
    await refused;
    expect(await page.evaluate(() => 'analytics' in window)).toBe(false);
  });

  test('without any inline script runs the stub as a file', async ({ page, service, site }) => {
    serve(site);
    // The tag comes after the call: what was called by then is what the stub has kept.
    const release = site.hold('/outbox.js');
    const tags = recipe(TITLE, 'html', service);
    const [stub] = /<script src[^]*?<\/script>/.exec(tags)!;
    const html = htmlPage({ head: stub + CALLS + tags.replace(/^.*stub\.js.*$/m, '') });
    const policy = policyOf(service).replace(/'sha256-[^']+' ?/, '');
    await page.goto(site.page('/', html, { [HEADER]: policy }), { waitUntil: 'commit' });
    await expect
      .poll(() => page.evaluate(() => 'analytics' in window && analytics.status().waiting))
      .toBe(1);
    release();
    await service.holds({ events: ['early'] }, { pages: [page] });
  });
});

test.describe('the global', () => {
  const FOREIGN = inline(
    `window.analytics = { mine: true, event() { throw new Error('foreign') } }`,
  );

  test('of another script is left alone, with one warning', async ({
    page,
    guest,
    service,
    site,
  }) => {
    const warning = 'analytics-outbox: window.analytics is taken: use data-global, in the stub too';
    guest.allow(/window\.analytics is taken/);
    // By the developers' file, which comes later.
    const warned = page.waitForEvent('console', (message) => message.text() === warning);
    await page.goto(site.page('/', site.tagged({}, { head: FOREIGN })));
    expect(await page.evaluate(() => Object.keys(window.analytics))).toEqual(['mine', 'event']);
    expect((await warned).type()).toBe('warning');
    await service.holds({ events: [] });
  });

  test('may be another, beside a foreign one', async ({ page, guest, service, site }) => {
    guest.allowGlobals('outbox');
    const stub = inline(readDist('stub.js').replace('"analytics"', '"outbox"'));
    const tag = scriptTag({ ...setupOf(service), global: 'outbox' });
    const head = FOREIGN + stub + inline(`outbox.event('early')`) + tag;
    await page.goto(site.page('/', htmlPage({ head })));
    await page.evaluate('outbox.event("late")');
    await service.holds({ events: ['early', 'late'] });
    expect(await page.evaluate(() => 'mine' in analytics)).toBe(true);
    expect(await page.evaluate('outbox.status().waiting')).toBe(0);
  });
});
