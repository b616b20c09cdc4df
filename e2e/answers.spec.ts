import { inline } from './support/html.js';
import { names } from './support/names.js';
import { statusOf } from './support/status-of.js';
import { expect, test } from './support/test.js';

/** The body must follow the headers within this time. */
const BODY_MS = 5_000;

/** Keeps, of each request that the browser was asked for, whether it was under keepalive and what it came to. */
const WATCHED_FETCH = inline(`{
  const { fetch } = window;
  const log = (window[Symbol.for('fetches')] = []);
  window.fetch = (url, init) => {
    const entry = { keepalive: init.keepalive, failed: false };
    log.push(entry);
    const response = fetch(url, init);
    response.catch(() => (entry.failed = true));
    return response;
  };
}`);

test('takes the status for an answer whose body never ends, and gets its keepalive budget back', async ({
  page,
  site,
}) => {
  let asked = 0;
  site.handle('/service/', (request, response) => {
    request.resume().on('end', () => {
      asked++;
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"success":');
    });
  });
  // Five at a time fit the budget, and each of the four times waits 5 s for the rest of the body.
  await page.clock.install();
  const setup = { baseUrl: `${site.url}/service`, concurrency: 5 };
  await page.goto(site.page('/', site.tagged(setup, { head: WATCHED_FETCH })));
  await page.evaluate((events) => {
    for (const event of events) analytics.event(event, { description: 'x'.repeat(9_000) });
  }, names(20));
  for (let wanted = 5; wanted <= 20; wanted += 5) {
    await expect.poll(() => asked).toBe(wanted);
    await expect.poll(() => statusOf(page)).toMatchObject({ inFlight: 5 });
    await page.clock.fastForward(BODY_MS);
  }
  await expect.poll(() => statusOf(page)).toMatchObject({ delivered: 20, waiting: 0, inFlight: 0 });
  expect(asked).toBe(20);
  const fetches = await page.evaluate(
    () => (window as unknown as Record<symbol, unknown>)[Symbol.for('fetches')],
  );
  expect(fetches).toEqual(Array(20).fill({ keepalive: true, failed: false }));
});
