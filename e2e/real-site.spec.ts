import { dirname } from 'node:path';
import { createRequire } from 'node:module';
import type { Page } from '@playwright/test';
import type { StoredEvent } from './support/service.js';
import { AUTO, EVERYTHING } from './support/captured.js';
import { setupOf } from './support/setup-of.js';
import { scriptTag } from './support/tagged.js';
import { expect, test } from './support/test.js';

// A site that is not ours, as its authors publish it: four pages, some scripts and styles from elsewhere.
const BLOG = `${dirname(createRequire(import.meta.url).resolve('startbootstrap-clean-blog/package.json'))}/dist`;

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

/** Walks about like a visitor. */
const createVisitor = (page: Page, blog: string) => {
  const pathOf = (name: string) => new URL(name, blog).pathname;
  /** Stays until the page is painted, with which it is measured. */
  const look = () =>
    page.evaluate(async () => {
      for (let frames = 0; frames < 3; frames++) await new Promise(requestAnimationFrame);
    });
  return {
    look,
    land: (name: string) => page.goto(new URL(name, blog).href),
    /** Clicks a link, and arrives where it leads. */
    follow: async (link: string, to: string) => {
      // The navigation of the site hides when one scrolls down.
      await expect(async () => {
        await page.keyboard.press('Home');
        expect(await page.evaluate(() => scrollY)).toBe(0);
        await page.getByRole('link', { name: link }).first().click({ timeout: 2_000 });
      }).toPass();
      await page.waitForURL(`**${pathOf(to)}*`, { waitUntil: 'load' });
      await look();
    },
    /** The button wakes up by a script from elsewhere only: the key sends the form without it. */
    sendForm: async () => {
      await page.getByLabel('Name').fill('Ada');
      await page.getByLabel('Email address').fill('ada@example.com');
      await page.getByLabel('Message').fill('Hello');
      const left = page.waitForURL('**/contact.html?', { waitUntil: 'load' });
      await page.getByLabel('Phone Number').press('Enter');
      await left;
      await look();
    },
  };
};

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
  await page.getByRole('link', { name: 'Older Posts →' }).first().click(); // leads nowhere
  await visitor.follow('About', 'about.html');
  await visitor.follow('Home', 'index.html');
  await visitor.follow('Science has not yet mastered prophecy', 'post.html');
  // To a site that cannot be reached from here.
  await page.getByRole('link', { name: 'Space Ipsum' }).click();
  await page.waitForURL(({ href }) => !href.startsWith(site.url), { waitUntil: 'commit' });
  await visitor.land('contact.html');
  await visitor.sendForm();
  await page.goBack({ waitUntil: 'load' });
  await visitor.look();
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
