import { dirname } from 'node:path';
import { createRequire } from 'node:module';
import type { Page } from '@playwright/test';
import type { Service, StoredEvent } from './support/service.js';
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

interface Step {
  /** Name, page and link of the event. */
  is: string;
  /** The time in the test just before and just after. */
  from: number;
  to: number;
}

/** Walks about like a visitor, and keeps what should have been tracked, and when. */
const createVisitor = (page: Page, blog: string) => {
  const steps: Step[] = [];
  const pathOf = (name: string) => new URL(name, blog).pathname;
  const during = async (act: () => Promise<unknown>, ...events: string[]) => {
    const from = Date.now();
    await act();
    const to = Date.now();
    steps.push(...events.map((is) => ({ is, from, to })));
  };
  const arriveAt = (name: string) => page.waitForURL(`**${pathOf(name)}*`, { waitUntil: 'load' });

  /** The navigation of the site hides when one scrolls down. */
  const goToTop = async () => {
    await page.keyboard.press('Home');
    expect(await page.evaluate(() => scrollY)).toBe(0);
  };
  /** After going back the browser restores the place on the page, at some time, and hides it again. */
  const clickAtTop = (link: string) =>
    expect(async () => {
      await goToTop();
      await page.getByRole('link', { name: link }).first().click({ timeout: 2_000 });
    }).toPass();

  return {
    steps,
    land: (name: string) =>
      during(() => page.goto(new URL(name, blog).href), `Page Viewed ${pathOf(name)}`),
    /** Clicks a link, and arrives where it leads. */
    follow: (link: string, from: string, to: string) =>
      during(
        async () => {
          await clickAtTop(link);
          await arriveAt(to);
        },
        `Link Clicked ${pathOf(from)} ${link}`,
        `Page Viewed ${pathOf(to)}`,
      ),
    /** Clicks a link that leads nowhere. */
    click: (link: string, on: string) =>
      during(
        () => page.getByRole('link', { name: link }).first().click(),
        `Link Clicked ${pathOf(on)} ${link}`,
      ),
    /** The button wakes up by a script from elsewhere only: the key sends the form without it. */
    sendForm: async () => {
      await page.getByLabel('Name').fill('Ada');
      await page.getByLabel('Email address').fill(ADA);
      await page.getByLabel('Message').fill('Hello');
      await during(
        async () => {
          const left = page.waitForURL('**/contact.html?', { waitUntil: 'load' });
          await page.getByLabel('Phone Number').press('Enter');
          await left;
        },
        `Contact Form Sent ${pathOf('contact.html')}`,
        `Page Viewed ${pathOf('contact.html')}`,
      );
    },
    travel: (act: () => Promise<unknown>, to: string, what: string) =>
      during(
        async () => {
          await act();
          await expect.poll(() => page.evaluate(() => document.readyState)).toBe('complete');
          // Playwright may hear of a page that comes back from the cache after the page itself.
          await expect.poll(() => new URL(page.url()).pathname).toBe(pathOf(to));
        },
        `${what} ${pathOf(to)}`,
      ),
  };
};

/**
 * `pageshow` comes after `load`, and a page from the cache is complete before it: on a busy machine some time goes by.
 * Less than the second after which the snippet sends: an event with the time of its sending would be noticed.
 */
const SLACK_MS = 500;

const nameOf = ({ event, tags }: StoredEvent): string =>
  [event, tags.page, tags.link].filter(Boolean).join(' ');

/** Each event once, in the order of the walk, with the time and the user of its click. */
const verify = async (service: Service, steps: readonly Step[]) => {
  const events = (await service.events()).sort((a, b) => (a.timestamp < b.timestamp ? -1 : 1));
  expect(events.map(nameOf)).toEqual(steps.map(({ is }) => is));
  const sent = steps.findIndex(({ is }) => is.startsWith('Contact Form Sent'));
  for (const [i, event] of events.entries()) {
    const at = Date.parse(event.timestamp);
    expect(Math.abs(at - Number(event.tags.at)), nameOf(event)).toBeLessThanOrEqual(SLACK_MS);
    expect(at, nameOf(event)).toBeGreaterThanOrEqual(steps[i]!.from - SLACK_MS);
    expect(at, nameOf(event)).toBeLessThanOrEqual(steps[i]!.to + SLACK_MS);
    expect(event.user_id, nameOf(event)).toBe(i < sent ? null : ADA);
  }
  const [identify] = await service.identifies();
  expect(identify!.properties).toEqual({ name: 'Ada' });
  // The form's own event left beside it, with the page: nobody was there to wait for an answer.
  const later = events.slice(sent + 1).map((event) => event.received_at);
  expect(later.every((at) => at >= identify!.received_at)).toBe(true);
};

test.describe('a visitor of a site that is not ours', () => {
  test.beforeEach(({ guest, service, site }) => {
    guest.allow(/console\.log: 123 /); // the template's own
    site.file('/tracking.js', TRACKING);
    site.mount('/blog/', BLOG, {
      html: (source) =>
        source
          .replace('</head>', () => `${stubTag()}${scriptTag(setupOf(service))}</head>`)
          .replace('</body>', '<script src="/tracking.js"></script></body>'),
    });
  });

  const walk = async (page: Page, blog: string) => {
    const visitor = createVisitor(page, blog);
    await visitor.land('index.html');
    await visitor.click('Older Posts →', 'index.html');
    await visitor.follow('About', 'index.html', 'about.html');
    await visitor.follow('Home', 'about.html', 'index.html');
    await visitor.follow('Science has not yet mastered prophecy', 'index.html', 'post.html');
    await visitor.follow('Contact', 'post.html', 'contact.html');
    await visitor.sendForm();
    return visitor;
  };
  const NAMES = ['Page Viewed', 'Link Clicked', 'Contact Form Sent', 'Page Restored'];
  const namesOf = (steps: readonly Step[]) =>
    steps.map(({ is }) => NAMES.find((name) => is.startsWith(name))!);

  test('is followed through the pages, back, forward, and to the end', async ({
    page,
    service,
    site,
  }) => {
    const visitor = await walk(page, `${site.url}/blog/`);
    await visitor.travel(() => page.goBack(), 'contact.html', 'Page Viewed');
    await visitor.travel(() => page.goBack(), 'post.html', 'Page Viewed');
    await visitor.travel(() => page.goForward(), 'contact.html', 'Page Viewed');
    await visitor.follow('Start Bootstrap', 'contact.html', 'index.html');
    await visitor.click('Older Posts →', 'index.html');
    await page.close();
    await service.holds({ events: namesOf(visitor.steps), identifies: [ADA] });
    await verify(service, visitor.steps);
  });

  test('is followed through pages that come back from the cache', async ({
    bfcache,
    service,
    site,
  }) => {
    const context = await bfcache.open();
    const page = await context.newPage();
    const visitor = await walk(page, `${site.url}/blog/`);
    await visitor.travel(() => bfcache.back(page), 'contact.html', 'Page Restored');
    await visitor.travel(() => bfcache.back(page), 'post.html', 'Page Restored');
    await visitor.follow('Start Bootstrap', 'post.html', 'index.html');
    await visitor.click('Older Posts →', 'index.html');
    await page.close();
    await service.holds({ events: namesOf(visitor.steps), identifies: [ADA] });
    await verify(service, visitor.steps);
  });
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
  await visitor.travel(() => page.goBack(), 'contact.html', 'Page Viewed');
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
  const rows = (await service.events()).sort((a, b) => (a.timestamp < b.timestamp ? -1 : 1));
  const isVitals = ({ event }: StoredEvent) => event === 'Web Vitals';
  expect(rows.filter((row) => !isVitals(row)).map(({ event, tags }) => [event, tags])).toEqual(
    expected,
  );
  // Recorded in the same moment as `Page Left`.
  expect(rows.filter(isVitals).map(({ tags }) => tags.path)).toEqual(pages.map(path));
});
