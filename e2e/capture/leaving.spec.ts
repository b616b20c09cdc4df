import { AUTO, captured, EVERYTHING, type Row } from '../support/captured.js';
import { BARE } from '../support/leave.js';
import { expect, test } from '../support/test.js';

const TALL = '<div style="height: 4000px"></div>';
const left = (path: string, scroll: number, seconds: unknown = expect.any(Number)): Row => [
  'Page Left',
  { path, scroll, seconds },
];

test('records scroll depth and time as a page is left, and each route of it @smoke', async ({
  page,
  service,
  site,
}) => {
  await page.clock.install();
  await page.setViewportSize({ width: 500, height: 500 });
  const html = site.tagged({ auto: 'engagement' }, { ...AUTO, body: TALL });
  await page.goto(site.page('/', html.replace('<body>', '<body style="margin: 0">')));
  await expect.poll(() => page.evaluate(() => analytics.status().storage)).toBe('indexeddb');
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

test('records web vitals as a page is left, and hands them off @smoke', async ({
  page,
  browserName,
  service,
  site,
}) => {
  const style = { ...AUTO, body: '<button>Press</button>' };
  await page.goto(site.page('/', site.tagged({ auto: 'vitals' }, style)));
  await page.getByText('Press').click();
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
  await page.goto(site.page('/bare', BARE));
  const [[, tags]] = (await captured(service, ['Web Vitals'])) as [Row];
  const measured = browserName === 'chromium' ? ['cls'] : [];
  expect(Object.keys(tags)).toEqual(
    expect.arrayContaining(['path', 'ttfb', 'fcp', 'lcp', ...measured]),
  );
  for (const [name, value] of Object.entries(tags)) {
    expect(typeof value, name).toBe(name === 'path' ? 'string' : 'number');
  }
});

test('keeps the back/forward cache with everything on, and counts what comes back @smoke', async ({
  bfcache,
  service,
  site,
}) => {
  const page = await (await bfcache.open()).newPage();
  await page.goto(site.page('/', site.tagged({ auto: EVERYTHING }, AUTO)));
  await expect.poll(() => page.evaluate(() => analytics.status().delivered)).toBe(1);
  await page.evaluate(() => {
    (window as never as Record<symbol, boolean>)[Symbol.for('kept')] = true;
  });
  await page.goto(site.page('/bare', BARE));
  await bfcache.back(page);
  expect(
    await page.evaluate(() => (window as never as Record<symbol, boolean>)[Symbol.for('kept')]),
  ).toBe(true);
  const once = ['Page Viewed', 'Page Left', 'Web Vitals'];
  await service.holds({ events: [...once, 'Page Viewed'] });
  await page.evaluate((address) => void (location.href = address), `${site.url}/bare`);
  await page.waitForURL('**/bare');
  await service.holds({ events: [...once, ...once] });
});
