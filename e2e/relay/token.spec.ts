import { TOKEN } from '../support/service.js';
import { names } from '../support/names.js';
import { statusOf } from '../support/status-of.js';
import { expect, test } from '../support/test.js';
import { track } from '../support/track.js';

test.use({ mode: 'relay' });

test('sends the token to the page in no byte, and stores it nowhere @smoke', async ({
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
