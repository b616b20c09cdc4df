import { isBrowserNoise, isHelp } from './support/browser-noise.js';
import { statusOf } from './support/status-of.js';
import { expect, test } from './support/test.js';

test('attributes of the tag set options of each kind', async ({ page, guest, service, site }) => {
  guest.allowGlobals('pageTags', 'onlyShort');
  const head = `<script>
    window.pageTags = () => ({ title: document.title });
    window.onlyShort = (draft) => (draft.body.event.length > 5 ? null : draft);
  </script>`;
  const text = { project: 'shop', baseUrl: `${service.url}/` };
  const globals = { context: 'pageTags', beforeSend: 'onlyShort' };
  const options = { ...text, ...globals, flushAt: 2, flushInterval: 600_000, idempotencyKey: '' };
  await page.goto(site.page('/', site.tagged(options, { attributes: '', head })));
  await page.evaluate(() => {
    analytics.event('one');
    analytics.event('too long');
  });
  expect(await statusOf(page)).toMatchObject({ waiting: 1, dropped: { 'before-send': 1 } });
  await page.evaluate(() => analytics.event('two'));
  await service.holds({ events: ['one', 'two'] }, { pages: [page] });
  for (const event of await service.events()) {
    expect(event).toMatchObject({ project: 'shop', tags: { title: 'A page' } });
    expect(event.idempotency_key).toMatch(/^[\w-]{21}$/);
  }
});

test('a wrong set-up in the tag is told once, in words on a local host, and stores and sends nothing', async ({
  page,
  guest,
  service,
  site,
}) => {
  guest.allow(/console\.error: analytics/);
  const lines: string[] = [];
  page.on('console', (message) => {
    if (!isBrowserNoise(message) && !isHelp(message))
      lines.push(`${message.type()}: ${message.text()}`);
  });
  const options = { token: 'tok–en', channel: undefined, timeout: '20s' };
  await page.goto(site.page('/', site.tagged(options, { attributes: '' })));
  await page.evaluate(() => {
    analytics.identify('user_1');
    analytics.event('one');
    void analytics.flush();
  });
  await expect.poll(() => lines).toHaveLength(1);
  expect(lines[0]!.split('\n').sort()).toEqual([
    expect.stringMatching(/`token` \(data-token\) must be .+, not "…–…"$/),
    expect.stringMatching(/^option `channel` .+ is missing/),
    expect.stringMatching(/`timeout` \(data-timeout\) must be a number, not "20s"$/),
  ]);
  await service.holds({ events: [] });
  expect(await service.requests()).toEqual([]);
  expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([]);
});
