import { returnFromCache, waitFor } from '../promise/steps.js';
import { test as promiseTest } from '../promise/test.js';
import { AUTO, captured, EVERYTHING, HERE, type Row, untilStored } from '../support/captured.js';
import { BARE } from '../support/html.js';
import { statusOf } from '../support/status-of.js';
import { expect, test } from '../support/test.js';

const TALL = '<div style="height: 4000px"></div>';
const left = (path: string, scroll: number, seconds: unknown = expect.any(Number)): Row => [
  'Page Left',
  { path, title: 'A page', scroll, seconds },
];

test('records scroll depth and time as a page is left, and each route of it @firefox', async ({
  page,
  service,
  site,
}) => {
  await page.clock.install();
  await page.setViewportSize({ width: 500, height: 500 });
  const html = site.tagged({ auto: `engagement ${HERE}` }, { ...AUTO, body: TALL });
  await page.goto(site.page('/', html.replace('<body>', '<body style="margin: 0">')));
  await untilStored(page);
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  await page.evaluate(
    (top) =>
      new Promise((done) => {
        addEventListener('scroll', done, { once: true });
        scrollTo(0, top);
      }),
    height / 2 - 500,
  );
  await page.clock.fastForward(20_000);
  await page.keyboard.press('ArrowUp');
  await page.clock.fastForward(600_000); // asleep: 30 seconds of it count
  await page.evaluate(() => {
    scrollTo(0, 0);
    history.pushState({}, '', '/route');
  });
  await page.goto(site.page('/bare', BARE));
  const rows = await captured(service, ['Page Left', 'Page Left']);
  expect(rows).toEqual([left('/', 50), left('/route', expect.any(Number) as never)]);
  expect(Math.abs(Number(rows[0]![1]['seconds']) - 50)).toBeLessThanOrEqual(3);
  expect(Number(rows[1]![1]['seconds'])).toBeLessThanOrEqual(3);
});

for (const [what, style] of [
  ['body', 'html { overflow: hidden; height: 100% } body { overflow: auto; height: 100% }'],
  ['main', 'main { overflow: auto; height: 100vh }'],
] as const) {
  test(`measures how far a page was seen whose \`${what}\` scrolls`, async ({
    page,
    service,
    site,
  }) => {
    await page.setViewportSize({ width: 500, height: 500 });
    const head = `<style>body { margin: 0 } h1 { display: none } ${style}</style>`;
    const options = { auto: `engagement ${HERE}` };
    const html = site.tagged(options, { ...AUTO, head, body: `<main>${TALL}</main>` });
    await page.goto(site.page('/', html));
    await untilStored(page);
    await page.goto(site.page('/b', html));
    await untilStored(page);
    await page.evaluate(
      (what) =>
        new Promise((done) => {
          const one = document.querySelector(what)!;
          one.addEventListener('scroll', () => requestAnimationFrame(done), { once: true });
          one.scrollTo(0, 1_500);
        }),
      what,
    );
    await page.goto(site.page('/bare', BARE));
    expect(await captured(service, ['Page Left', 'Page Left'])).toEqual([
      left('/', 13),
      left('/b', 50),
    ]);
  });
}

test('records web vitals as a page is left, and hands them off @firefox', async ({
  page,
  browserName,
  service,
  site,
}) => {
  const style = { ...AUTO, body: '<button>Press</button>' };
  await page.goto(site.page('/', site.tagged({ auto: `vitals ${HERE}` }, style)));
  await page.getByText('Press').click();
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
  // Not of the route that is left, but of the page that was measured, with the title that it was viewed with.
  await page.evaluate(() => {
    for (const route of ['/b', '/c']) {
      history.pushState({}, '', route);
      document.title = route;
    }
  });
  await page.goto(site.page('/bare', BARE));
  const [[, { path, title, ...measures }]] = (await captured(service, ['Web Vitals'])) as [Row];
  expect([path, title]).toEqual(['/', 'A page']);
  const measured = browserName === 'chromium' ? ['cls'] : [];
  expect(Object.keys(measures)).toEqual(
    expect.arrayContaining(['ttfb', 'fcp', 'lcp', ...measured]),
  );
  for (const [name, value] of Object.entries(measures)) expect(typeof value, name).toBe('number');
});

promiseTest(
  'keeps the back/forward cache with everything on, and counts what comes back @firefox',
  async ({ stage }) => {
    const { service, page, tagged, bare } = stage;
    const tab = await stage.newTab(page('/', tagged({ auto: EVERYTHING }, AUTO)));
    await waitFor('the view', async () => (await statusOf(tab)).delivered === 1);
    await tab.evaluate(() => {
      history.pushState({}, '', '/b');
      document.title = 'B';
    });
    const views = ['Page Viewed', 'Page Left', 'Page Viewed', 'Page Left', 'Web Vitals'];
    await returnFromCache(tab, () => tab.goto(bare()));
    await service.holds({ events: [...views, 'Page Viewed'] });
    await tab.goto(bare());
    const rows = await captured(service, [...views, 'Page Viewed', 'Page Left', 'Web Vitals']);
    const vitals = rows.filter(([event]) => event === 'Web Vitals');
    expect(vitals.map(([, { path, title }]) => [path, title])).toEqual([
      ['/', 'A page'],
      ['/b', 'B'],
    ]);
  },
);
