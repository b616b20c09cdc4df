import { EVERYTHING } from './support/captured.js';
import { DIST_FOLDER } from './support/dist.js';
import { htmlPage, inline } from './support/html.js';
import { recipeIn } from './support/recipe.js';
import type { Service } from './support/service.js';
import { setupOf } from './support/setup-of.js';
import type { Site } from './support/site.js';
import { scriptTag, stubTag } from './support/tagged.js';
import { expect, test } from './support/test.js';

type Setup = ReturnType<typeof setupOf>;

const call = (event: string): string => inline(`analytics.event('${event}')`);

/** A recipe, set up for the test's own service. */
const recipe = (heading: string, language: string, { url, token }: Service): string =>
  recipeIn('tag.md', heading, language)
    .replace('https://in.example.com', url)
    .replace('YOUR_TOKEN', token)
    .replace(`relay: '/a'`, `baseUrl: '${url}', token: '${token}'`);

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

test('an import map loads the package without a bundler', async ({ page, service, site }) => {
  site.mount('/vendor/analytics-outbox/dist/', DIST_FOLDER);
  const head = recipe('Import map', 'html', service);
  await page.goto(site.page('/', htmlPage({ head })));
  await service.holds({ events: ['Signed Up'] }, { pages: [page] });
});

test.describe('a Content Security Policy', () => {
  const NONCE = 'r4nd0m';
  const HEADER = 'content-security-policy';
  /** Keeps what was violated in the title, which is no global. */
  const listen = inline(
    `document.title = '';
    addEventListener('securitypolicyviolation', (event) => {
      document.title += event.violatedDirective + ' ';
    })`,
    NONCE,
  );

  for (const [file, more, captured] of [
    ['outbox.js', {}, []],
    [
      'outbox-auto.js',
      { auto: EVERYTHING },
      ['Page Viewed', 'Clicked', 'Page Left', 'Page Viewed'],
    ],
  ] as const) {
    test(`with a nonce and trusted types is not violated by ${file}`, async ({
      page,
      service,
      site,
    }) => {
      const tag = scriptTag(
        { ...setupOf(service), ...more },
        { nonce: NONCE, src: `/dist/${file}` },
      );
      const early = inline(`analytics.event('early')`, NONCE);
      const head = listen + stubTag({ nonce: NONCE }) + early + tag;
      const body = '<button data-event="Clicked">Click</button>';
      const policy = `script-src 'nonce-${NONCE}'; connect-src ${service.url}; require-trusted-types-for 'script'`;
      await page.goto(site.page('/', htmlPage({ head, body }), { [HEADER]: policy }));
      await page.evaluate(() => analytics.event('late'));
      await service.holds({ events: ['early', 'late', ...captured.slice(0, 1)] });
      await page.getByText('Click').click();
      await page.evaluate(() => history.pushState({}, '', '/b'));
      await service.holds({ events: ['early', 'late', ...captured] }, { pages: [page] });
      expect(await page.evaluate(() => analytics.status().storage)).toBe('indexeddb');
      expect(await page.title()).toBe('');
    });
  }

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
