import { heard, listening } from './support/heard.js';
import { names } from './support/names.js';
import { startOddService } from './support/odd-service.js';
import { requestsFor } from './support/requests-for.js';
import { statusOf } from './support/status-of.js';
import { expect, test } from './support/test.js';
import { track } from './support/track.js';

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
  await track(page, names(12));
  await expect
    .poll(() => statusOf(page), { timeout: 20_000 })
    .toMatchObject({ delivered: 12, waiting: 0, inFlight: 0 });
  expect(odd.events.sort()).toEqual(names(12).sort());
  await odd.close();
});

test('gets back the keepalive budget of a body that never ends', async ({ page, site }) => {
  const odd = await endless();
  // Five at a time fit the budget, and each of the four times takes 5 s.
  const setup = { baseUrl: odd.url, concurrency: 5 };
  await page.goto(site.page('/', site.tagged(setup, { ...listening, head: WATCHED_FETCH })));
  await page.evaluate((events) => {
    for (const event of events) analytics.event(event, { description: 'x'.repeat(9_000) });
  }, names(20));
  await expect
    .poll(() => statusOf(page), { timeout: 40_000 })
    .toMatchObject({ delivered: 20, waiting: 0, inFlight: 0 });
  expect(odd.events.sort()).toEqual(names(20).sort());
  const fetches = await page.evaluate(
    () => (window as unknown as Record<symbol, unknown>)[Symbol.for('fetches')],
  );
  expect(fetches).toEqual(Array(20).fill({ keepalive: true, failed: false }));
  await odd.close();
});

test('waits for the longest of two Retry-After headers', async ({ page, service, site }) => {
  await page.goto(site.page('/', site.tagged()));
  await service.faults([{ status: 429, headers: { 'retry-after': '120, 120' } }]);
  const { called } = await track(page, ['called']);
  await expect.poll(async () => (await statusOf(page)).paused).toBe('backoff');
  expect((await statusOf(page)).nextAttempt).toBeGreaterThanOrEqual(called! + 120_000);
  expect(await requestsFor(service, 'called')).toHaveLength(1);
});

test.describe('stores once what goes through a wrapped fetch', () => {
  /** What scripts of other people put in the place of `fetch`, or of what it gives. */
  const wrappers: Record<string, string> = {
    'whose response has no headers': `async (...args) => {
      const { status, body } = await fetch(...args);
      return { status, body };
    }`,
    'whose headers throw': `async (...args) => {
      const response = await fetch(...args);
      Object.defineProperty(response, 'headers', { get: () => { throw new Error('no headers'); } });
      return response;
    }`,
    'that gives a thenable': `(...args) => {
      const promise = fetch(...args);
      return { then: (done, failed) => void promise.then(done, failed) };
    }`,
    'whose text is a text, and no promise': `async (...args) => {
      const { status, headers } = await fetch(...args);
      return { status, headers, text: () => '' };
    }`,
    'whose response has neither text nor body': `async (...args) => {
      const { status, headers } = await fetch(...args);
      return { status, headers };
    }`,
    'that has read the body already': `async (...args) => {
      const response = await fetch(...args);
      await response.json();
      return response;
    }`,
    'whose status is a text': `async (...args) => {
      const { status } = await fetch(...args);
      return { status: String(status) };
    }`,
  };
  for (const [name, wrapper] of Object.entries(wrappers)) {
    test(name, async ({ page, service, site }) => {
      const head = `<script>{ const { fetch } = window; window.fetch = ${wrapper}; }</script>`;
      await page.goto(site.page('/', site.tagged({}, { ...listening, head })));
      await track(page, names(3));
      await service.holds({ events: names(3) }, { pages: [page] });
      const outcomes = (await heard(page, 'outcome')).map(({ outcome }) => outcome);
      expect(outcomes).toEqual(['delivered', 'delivered', 'delivered']);
    });
  }
});
