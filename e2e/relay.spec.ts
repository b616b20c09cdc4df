import { listening } from './support/heard.js';
import { htmlPage } from './support/html.js';
import { BARE, trackAndGo } from './support/leave.js';
import { names } from './support/names.js';
import { RELAY } from './support/relay.js';
import { TOKEN } from './support/service.js';
import { statusOf } from './support/status-of.js';
import { storedEvents } from './support/stored-records.js';
import { scriptTag, stubTag } from './support/tagged.js';
import { CHANNEL, expect, PROJECT, test } from './support/test.js';
import { track } from './support/track.js';

test.use({ mode: 'relay' });

test('its address is a path of the site, whatever <base> the page has', async ({
  page,
  service,
  site,
}) => {
  // Another server: what goes there is lost.
  const base = { attributes: 'defer', body: `<base href="${service.url}">` };
  await page.goto(site.page('/deep/down/page', site.tagged({}, base)));
  await page.evaluate(() => analytics.event('called'));
  await service.holds({ events: ['called'] }, { pages: [page] });
});

for (const frame of ['srcdoc', 'about:blank']) {
  test(`its address in a frame of ${frame} is a path of the site that made that`, async ({
    page,
    service,
    site,
  }) => {
    const options = { relay: RELAY, project: PROJECT, channel: CHANNEL };
    const tag = scriptTag(options, { src: `${site.url}/dist/outbox-relay.js` });
    await page.goto(site.page('/', htmlPage({ head: `<base href="${service.url}">` })));
    await page.evaluate(
      ([frame, html]) => {
        const element = document.createElement('iframe');
        if (frame === 'srcdoc') element.srcdoc = html;
        document.body.append(element);
        if (frame === 'srcdoc') return;
        element.contentDocument!.write(html);
        element.contentDocument!.close();
      },
      [frame, stubTag() + tag] as const,
    );
    const body = page.frameLocator('iframe').locator('body');
    await body.evaluate(() => analytics.event('framed'));
    await service.holds({ events: ['framed'] });
  });
}

test('keeps one connection busy, so that a link works, and leaves the others to the next page', async ({
  page,
  relay,
  service,
  site,
}) => {
  const next = site.page('/next', BARE);
  const link = { body: `<a href="${next}">Next</a>` };
  await page.goto(site.page('/', site.tagged({ flushAt: 1 }, { ...listening, ...link })));
  relay.faults([{ hang: true }]);
  for (const event of names(8)) {
    await track(page, [event]);
    await page.evaluate(() => void analytics.flush());
  }
  await expect.poll(() => relay.requests.length).toBe(1);
  await page.getByRole('link', { name: 'Next' }).click();
  await page.waitForURL(next);
  // The rest was given to the browser as the page went.
  expect(relay.requests.filter(({ isBeacon }) => !isBeacon)).toHaveLength(1);
  relay.faults([]);
  await page.goto(site.page('/after', site.tagged()));
  await service.holds({ events: names(8) }, { pages: [page] });
});

test('gives a beacon what was called in the task that leaves, and stores it once @smoke', async ({
  page,
  relay,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged({ flushInterval: 1_000 })));
  await trackAndGo(page, names(5), site.page('/bare', BARE));
  await service.holds({ events: names(5) });
  expect(relay.requests).toMatchObject([{ events: names(5), isBeacon: true }]);

  // Nobody heard the answer: the next page sends it again, and hears that it was delivered.
  await page.goto(site.page('/next', site.tagged()));
  await expect.poll(() => statusOf(page)).toMatchObject({ delivered: 5, unknown: 0, waiting: 0 });
  await service.holds({ events: names(5) }, { pages: [page] });
  expect(relay.requests[1]).toMatchObject({ ids: relay.requests[0]!.ids, isBeacon: false });
  expect(await storedEvents(page)).toEqual([]);
});

test('sends the token to the page in no byte, and stores it nowhere @firefox', async ({
  page,
  relay,
  service,
  site,
}) => {
  const seen: string[] = [];
  const reading: Promise<void>[] = [];
  page.on('response', (response) => {
    seen.push(response.url(), JSON.stringify(response.headers()));
    reading.push(
      response.text().then(
        (text) => void seen.push(text),
        () => undefined, // a redirect or a 204 has none
      ),
    );
  });
  page.on('request', (request) => {
    seen.push(JSON.stringify(request.headers()), request.postData() ?? '');
  });
  await page.goto(site.page('/', site.tagged()));
  await track(page, names(20));
  relay.faults([{ after: true, reset: true, times: 1 }]);
  await service.holds({ events: names(20) }, { pages: [page] });
  // Also where the service refuses the relay's token.
  await service.faults([{ status: 401, body: { code: 401, message: 'no' } }]);
  await track(page, ['refused']);
  await expect.poll(async () => (await statusOf(page)).paused).toBe('setup');
  await Promise.all(reading);
  const stored = await page.evaluate(async () => {
    const texts = [document.cookie, JSON.stringify({ ...localStorage, ...sessionStorage })];
    for (const { name } of await indexedDB.databases()) {
      const open = indexedDB.open(name!);
      await new Promise((done) => (open.onsuccess = done));
      const all = open.result.transaction('records').objectStore('records').getAll();
      await new Promise((done) => (all.onsuccess = done));
      texts.push(name!, JSON.stringify(all.result));
      open.result.close();
    }
    return texts.join('\n');
  });
  expect(stored).toContain('refused'); // it looks where records are
  expect(seen.join('\n')).toContain('delivered'); // and at answers
  expect(relay.answers.join('\n')).toContain('blocked');
  for (const text of [...seen, ...relay.answers, stored, await page.content()]) {
    expect(text).not.toContain(TOKEN);
  }
});
