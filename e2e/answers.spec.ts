import { listening } from './support/heard.js';
import { names } from './support/names.js';
import { startOddService } from './support/odd-service.js';
import { statusOf } from './support/status-of.js';
import { expect, test } from './support/test.js';
import { track } from './support/track.js';

/** The body must follow the headers within this time. */
const BODY_MS = 5_000;

const TAKEN = '{"success":true,"message":"Event created"}';

/** Keeps, of each request that the browser was asked for, whether it was under keepalive and what it came to. */
const WATCHED_FETCH = `<script>{
  const { fetch } = window;
  const log = (window[Symbol.for('fetches')] = []);
  window.fetch = (url, init) => {
    const entry = { keepalive: init.keepalive, failed: false };
    log.push(entry);
    const response = fetch(url, init);
    response.catch(() => (entry.failed = true));
    return response;
  };
}</script>`;

const endless = () =>
  startOddService((response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write(TAKEN.slice(0, 10));
  });

test('takes the status for the answer where the body never ends @smoke', async ({ page, site }) => {
  const odd = await endless();
  await page.goto(site.page('/', site.tagged({ baseUrl: odd.url }, listening)));
  await track(page, names(6));
  await expect
    .poll(() => statusOf(page), { timeout: 20_000 })
    .toMatchObject({ delivered: 6, waiting: 0, inFlight: 0 });
  expect(odd.events.sort()).toEqual(names(6).sort());
  await odd.close();
});

test('gets back the keepalive budget of a body that never ends', async ({ page, site }) => {
  const odd = await endless();
  // Five at a time fit the budget, and each of the four times waits 5 s for the rest of the body.
  await page.clock.install();
  const setup = { baseUrl: odd.url, concurrency: 5 };
  await page.goto(site.page('/', site.tagged(setup, { ...listening, head: WATCHED_FETCH })));
  await page.evaluate((events) => {
    for (const event of events) analytics.event(event, { description: 'x'.repeat(9_000) });
  }, names(20));
  for (let asked = 5; asked <= 20; asked += 5) {
    await expect.poll(() => odd.events.length).toBe(asked);
    await expect.poll(() => statusOf(page)).toMatchObject({ inFlight: 5 });
    await page.clock.fastForward(BODY_MS);
  }
  await expect.poll(() => statusOf(page)).toMatchObject({ delivered: 20, waiting: 0, inFlight: 0 });
  expect(odd.events.sort()).toEqual(names(20).sort());
  const fetches = await page.evaluate(
    () => (window as unknown as Record<symbol, unknown>)[Symbol.for('fetches')],
  );
  expect(fetches).toEqual(Array(20).fill({ keepalive: true, failed: false }));
  await odd.close();
});
