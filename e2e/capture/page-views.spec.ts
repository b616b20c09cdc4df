import type { Page } from '@playwright/test';
import { AUTO, captured, HERE, namesOf, type Row, untilDelivered } from '../support/captured.js';
import { BARE, inline } from '../support/html.js';
import { scriptTag } from '../support/tagged.js';
import { expect, test } from '../support/test.js';
import { setupOf } from '../support/setup-of.js';

const auto = `pageviews ${HERE}`;

/** What a router does: the address first, and the title when the page is drawn. */
const route = (page: Page, path: string, title: string) =>
  page.evaluate(
    ([path, title]) => {
      history.pushState({}, '', path);
      return new Promise<void>((done) =>
        setTimeout(() => {
          document.title = title!;
          done();
        }, 20),
      );
    },
    [path, title],
  );

const view = (path: string, tags: object = {}): Row => [
  'Page Viewed',
  { path, host: expect.stringMatching(/^127\.0\.0\.1:\d+$/) as unknown, title: 'A page', ...tags },
];

/** Engines before 2026 have no Navigation API. An element of that name is none. */
const withoutNavigation = inline(`delete window.navigation`) + '<p id="navigation"></p>';

for (const [how, head] of [
  ['by the Navigation API', ''],
  ['by the history where there is none', withoutNavigation],
] as const) {
  test(`sees each route once, ${how} @firefox`, async ({ page, service, site }) => {
    const tag = scriptTag({ ...setupOf(service), auto }, AUTO);
    site.page('/from', `<a href="/a?secret=1&utm_source=news#/top?utm_campaign=may">go</a>`);
    site.page('/a', site.tagged({ auto }, { ...AUTO, head, body: tag }));
    await page.goto(`${site.url}/from?secret=2`);
    await page.getByText('go').click();
    await page.waitForURL(/\/a\?/);
    await untilDelivered(page, 1);
    await route(page, '/b?page=2', 'B');
    await route(page, '/b?page=3', 'B');
    await route(page, '/b#part', 'B');
    await page.evaluate(() => history.replaceState({}, '', location.href));
    await route(page, '/c', 'C');
    await page.goBack();
    await expect.poll(() => page.evaluate(() => location.pathname)).toBe('/b');
    // In place of it, as in a redirect.
    await page.evaluate(() => history.replaceState({}, '', '/d'));
    await page.evaluate(() => void (document.title = 'D'));
    await service.holds({ events: Array<string>(4).fill('Page Viewed') });
    await page.evaluate(() => history.replaceState({}, '', '/e'));
    await page.goto(site.page('/bare', BARE));
    const expected = [
      view('/a', {
        referrer: `${site.url}/from`,
        utm_source: 'news',
        utm_campaign: 'may',
      }),
      view('/b', { referrer: `${site.url}/a`, title: 'B' }),
      view('/c', { referrer: `${site.url}/b`, title: 'C' }),
      view('/d', { referrer: `${site.url}/c`, title: 'D' }),
      view('/e', { referrer: `${site.url}/d`, title: undefined }),
    ];
    expect(await captured(service, namesOf(expected))).toEqual(expected);
  });
}

test('records a view whose page is left at once', async ({ page, service, site }) => {
  await page.goto(site.page('/', site.tagged({ auto }, { ...AUTO, attributes: '' })));
  await page.goto('about:blank');
  expect(await captured(service, ['Page Viewed'])).toEqual([view('/')]);
});
