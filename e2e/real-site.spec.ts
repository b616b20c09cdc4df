import { dirname } from 'node:path';
import { createRequire } from 'node:module';
import type { Page } from '@playwright/test';
import type { StoredEvent } from './support/service.js';
import { AUTO, EVERYTHING } from './support/captured.js';
import { setupOf } from './support/setup-of.js';
import { scriptTag, stubTag } from './support/tagged.js';
import { expect, test } from './support/test.js';

// A site that is not ours, as its authors publish it: four pages, some scripts and styles from elsewhere.
const BLOG = `${dirname(createRequire(import.meta.url).resolve('startbootstrap-clean-blog/package.json'))}/dist`;

/** All that its owner adds beside stub and tag. The time of the listener is what we compare with. */
const TRACKING = `
addEventListener('pageshow', ({ persisted }) => {
  const tags = { page: location.pathname, at: Date.now() };
  analytics.event(persisted ? 'Page Restored' : 'Page Viewed', { tags });
});
document.addEventListener('click', ({ target }) => {
  const link = target.closest('a');
  if (!link) return;
  const tags = { page: location.pathname, at: Date.now(), link: link.textContent.trim().split('\\n')[0] };
  analytics.event('Link Clicked', { tags });
});
document.addEventListener('submit', ({ target }) => {
  const { email, name } = target.elements;
  const tags = { page: location.pathname, at: Date.now() };
  analytics.identify(email.value, { name: name.value });
  analytics.event('Contact Form Sent', { tags });
});
`;
const ADA = 'ada@example.com';

// What the template loads from elsewhere is cut off by name. Not by `context.route`: it holds every
// request of the page until the test has let it pass, those of a page that goes away too.
test.use({
  launchOptions: [
    async ({ launchOptions }, use) =>
      use({
        ...launchOptions,
        args: [
          ...(launchOptions.args ?? []),
          '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
        ],
      }),
    { scope: 'worker' },
  ],
});

/** Walks about like a visitor, and keeps what should have been tracked: name, page and link. */
const createVisitor = (page: Page, blog: string) => {
  const steps: string[] = [];
  const pathOf = (name: string) => new URL(name, blog).pathname;
  const arriveAt = (name: string) => page.waitForURL(`**${pathOf(name)}*`, { waitUntil: 'load' });

  /**
   * The navigation of the site hides when one scrolls down. After going back the browser restores the place on the
   * page, at some time, and hides it again.
   */
  const clickAtTop = (link: string) =>
    expect(async () => {
      await page.keyboard.press('Home');
      expect(await page.evaluate(() => scrollY)).toBe(0);
      await page.getByRole('link', { name: link }).first().click({ timeout: 2_000 });
    }).toPass();

  return {
    steps,
    land: async (name: string) => {
      await page.goto(new URL(name, blog).href);
      steps.push(`Page Viewed ${pathOf(name)}`);
    },
    /** Clicks a link, and arrives where it leads. */
    follow: async (link: string, from: string, to: string) => {
      await clickAtTop(link);
      await arriveAt(to);
      steps.push(`Link Clicked ${pathOf(from)} ${link}`, `Page Viewed ${pathOf(to)}`);
    },
    /** Clicks a link that leads nowhere. */
    click: async (link: string, on: string) => {
      await page.getByRole('link', { name: link }).first().click();
      steps.push(`Link Clicked ${pathOf(on)} ${link}`);
    },
    /** The button wakes up by a script from elsewhere only: the key sends the form without it. */
    sendForm: async () => {
      await page.getByLabel('Name').fill('Ada');
      await page.getByLabel('Email address').fill(ADA);
      await page.getByLabel('Message').fill('Hello');
      const left = page.waitForURL('**/contact.html?', { waitUntil: 'load' });
      await page.getByLabel('Phone Number').press('Enter');
      await left;
      const path = pathOf('contact.html');
      steps.push(`Contact Form Sent ${path}`, `Page Viewed ${path}`);
    },
    goBack: async (back: () => Promise<unknown>, to: string, what: string) => {
      await back();
      await expect.poll(() => page.evaluate(() => document.readyState)).toBe('complete');
      // Playwright may hear of a page that comes back from the cache after the page itself.
      await expect.poll(() => new URL(page.url()).pathname).toBe(pathOf(to));
      steps.push(`${what} ${pathOf(to)}`);
    },
  };
};

/**
 * `pageshow` comes after `load`, and a page from the cache is complete before it: on a busy machine some time goes by.
 * Less than the second after which visitors' pages send: an event with the time of its sending would be noticed.
 */
const SLACK_MS = 500;

const byTime = (a: StoredEvent, b: StoredEvent) => (a.timestamp < b.timestamp ? -1 : 1);

test('a visitor of a site that is not ours is followed through pages that come back from the cache @nightly', async ({
  bfcache,
  guest,
  service,
  site,
}) => {
  guest.allow(/console\.log: 123 /); // the template's own
  site.file('/tracking.js', TRACKING);
  const tags = stubTag() + scriptTag({ ...setupOf(service), flushInterval: 1_000 });
  site.mount('/blog/', BLOG, {
    html: (source) =>
      source
        .replace('</head>', () => `${tags}</head>`)
        .replace('</body>', '<script src="/tracking.js"></script></body>'),
  });
  const page = await (await bfcache.open()).newPage();
  const visitor = createVisitor(page, `${site.url}/blog/`);
  await visitor.land('index.html');
  await visitor.click('Older Posts →', 'index.html');
  await visitor.follow('About', 'index.html', 'about.html');
  await visitor.follow('Home', 'about.html', 'index.html');
  await visitor.follow('Science has not yet mastered prophecy', 'index.html', 'post.html');
  await visitor.follow('Contact', 'post.html', 'contact.html');
  await visitor.sendForm();
  await visitor.goBack(() => bfcache.back(page), 'contact.html', 'Page Restored');
  await visitor.goBack(() => bfcache.back(page), 'post.html', 'Page Restored');
  await visitor.follow('Start Bootstrap', 'post.html', 'index.html');
  await visitor.click('Older Posts →', 'index.html');
  await page.close();

  const { steps } = visitor;
  const names = steps.map((step) => /^(Contact Form Sent|\w+ \w+)/.exec(step)![0]);
  await service.holds({ events: names, identifies: [ADA] });
  // Each event once, in the order of the walk, with the time and the user of its click.
  const events = (await service.events()).sort(byTime);
  const told = events.map(({ event, tags }) =>
    [event, tags.page, tags.link].filter(Boolean).join(' '),
  );
  expect(told).toEqual(steps);
  const sent = steps.findIndex((step) => step.startsWith('Contact Form Sent'));
  for (const [i, { timestamp, tags, user_id }] of events.entries()) {
    const late = Math.abs(Date.parse(timestamp) - Number(tags.at));
    expect(late, steps[i]).toBeLessThanOrEqual(SLACK_MS);
    expect(user_id, steps[i]).toBe(i < sent ? null : ADA);
  }
  const [identify] = await service.identifies();
  expect(identify!.properties).toEqual({ name: 'Ada' });
  // The form's own event left beside it, with the page: nobody was there to wait for an answer.
  const later = events.slice(sent + 1).map((event) => event.received_at);
  expect(later.every((at) => at >= identify!.received_at)).toBe(true);
});

test('a visitor is followed with nothing but the tag and `data-auto` added', async ({
  page,
  guest,
  service,
  site,
}) => {
  guest.allow(/console\.log: 123 /); // the template's own
  const tag = scriptTag({ ...setupOf(service), auto: EVERYTHING }, AUTO);
  site.mount('/blog/', BLOG, {
    html: (source) => source.replace('</head>', () => `${tag}</head>`),
  });
  const visitor = createVisitor(page, `${site.url}/blog/`);
  await visitor.land('index.html?utm_source=news&secret=1');
  await visitor.click('Older Posts →', 'index.html'); // leads nowhere
  await visitor.follow('About', 'index.html', 'about.html');
  await visitor.follow('Home', 'about.html', 'index.html');
  await visitor.follow('Science has not yet mastered prophecy', 'index.html', 'post.html');
  // To a site that cannot be reached from here.
  await page.getByRole('link', { name: 'Space Ipsum' }).click();
  await page.waitForURL(({ href }) => !href.startsWith(site.url), { waitUntil: 'commit' });
  await visitor.land('contact.html');
  await visitor.sendForm();
  await visitor.goBack(() => page.goBack(), 'contact.html', 'Page Viewed');
  await page.close();

  const title = 'Clean Blog - Start Bootstrap Theme';
  const path = (name: string) => `/blog/${name}.html`;
  const viewed = (name: string, from?: string, tags = {}) => [
    'Page Viewed',
    {
      path: path(name),
      host: new URL(site.url).host,
      title,
      ...(from && { referrer: site.url + path(from) }),
      ...tags,
    },
  ];
  const left = (name: string) => [
    'Page Left',
    { path: path(name), title, seconds: expect.any(Number), scroll: expect.any(Number) },
  ];
  const url = 'http://spaceipsum.com/';
  const fields = ['name', 'email', 'phone', 'message'];
  const expected = [
    viewed('index', undefined, { utm_source: 'news' }),
    left('index'),
    viewed('about', 'index'),
    left('about'),
    viewed('index', 'about'),
    left('index'),
    viewed('post', 'index'),
    ['Outbound Link Clicked', { path: path('post'), url }],
    left('post'),
    viewed('contact'),
    ['Form Submitted', { path: path('contact'), form: 'contactForm', fields }],
    left('contact'),
    viewed('contact', 'contact'),
    left('contact'),
    viewed('contact'),
    left('contact'),
  ];
  const pages = ['index', 'about', 'index', 'post', 'contact', 'contact', 'contact'];
  await service.holds({
    events: [...expected.map(([event]) => event as string), ...pages.map(() => 'Web Vitals')],
  });
  const rows = (await service.events()).sort(byTime);
  const isVitals = ({ event }: StoredEvent) => event === 'Web Vitals';
  expect(rows.filter((row) => !isVitals(row)).map(({ event, tags }) => [event, tags])).toEqual(
    expected,
  );
  // Recorded in the same moment as `Page Left`.
  expect(rows.filter(isVitals).map(({ tags }) => tags.path)).toEqual(pages.map(path));
});
