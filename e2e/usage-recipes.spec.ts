import { htmlPage } from './support/html.js';
import { recipeIn } from './support/recipe.js';
import type { Service } from './support/service.js';
import { DIST_FOLDER } from './support/dist.js';
import { stubTag } from './support/tagged.js';
import { expect, test } from './support/test.js';

/** A recipe, set up for the test's own service. */
const forService = (recipe: string, { url, token }: Service): string =>
  recipe.replace('https://in.example.com', url).replace('YOUR_TOKEN', token);

/** A script of the page's own, which calls before the tag's file has come. */
const CALLS = '<script src="/calls.js"></script>';
const early = `analytics.event('early')`;

const policyFor = (service: Service) => ({
  'content-security-policy': forService(
    recipeIn('tag.md', 'Content Security Policy', 'http'),
    service,
  )
    .replace('Content-Security-Policy:', '')
    .trim(),
});
const tagFor = (service: Service): string =>
  forService(recipeIn('tag.md', 'Content Security Policy', 'html'), service);
const asyncTag = (service: Service): string => tagFor(service).replace(/^.*stub\.js.*$/m, '');

test('the stub runs inline under a policy with its hash, without a nonce', async ({
  page,
  service,
  site,
}) => {
  site.mount('/', DIST_FOLDER);
  site.file('/calls.js', early);
  const head = stubTag() + CALLS + asyncTag(service);
  await page.goto(site.page('/', htmlPage({ head }), policyFor(service)));
  await service.holds({ events: ['early'] }, { pages: [page] });
});

test('a policy with another hash refuses the stub, so that test would notice', async ({
  page,
  guest,
  service,
  site,
}) => {
  guest.allow(/Content Security Policy/);
  site.mount('/', DIST_FOLDER);
  const policy = policyFor(service)['content-security-policy'].replace('sha256-', 'sha256-A');
  const refused = page.waitForEvent('console', (message) => /inline script/.test(message.text()));
  await page.goto(
    site.page('/', htmlPage({ head: stubTag() }), { 'content-security-policy': policy }),
  );
  await refused;
  expect(await page.evaluate(() => 'analytics' in window)).toBe(false);
});

test('the stub runs as a file, under a policy that allows no inline script', async ({
  page,
  service,
  site,
}) => {
  site.mount('/', DIST_FOLDER);
  site.file('/calls.js', early);
  // The tag comes after the call: what was called by then is what the stub has kept.
  const release = site.hold('/outbox.js');
  const [stub] = /<script src[^]*?<\/script>/.exec(tagFor(service))!;
  const head = stub + CALLS + asyncTag(service);
  const policy = policyFor(service)['content-security-policy'].replace(/'sha256-[^']+' ?/, '');
  await page.goto(site.page('/', htmlPage({ head }), { 'content-security-policy': policy }), {
    waitUntil: 'commit',
  });
  await expect
    .poll(() => page.evaluate(() => 'analytics' in window && analytics.status().waiting))
    .toBe(1);
  release();
  await service.holds({ events: ['early'] }, { pages: [page] });
});

test('an import map loads the package without a bundler', async ({ page, service, site }) => {
  site.mount('/vendor/analytics-outbox/dist/', DIST_FOLDER);
  const head = forService(recipeIn('tag.md', 'Import map', 'html'), service);
  await page.goto(site.page('/', htmlPage({ head })));
  await service.holds({ events: ['Signed Up'] }, { pages: [page] });
});
