import { breakStorage } from './support/break-storage.js';
import { laterPage } from './support/later.js';
import { names } from './support/names.js';
import { statusOf } from './support/status-of.js';
import { expect, test } from './support/test.js';
import { track } from './support/track.js';

/** As Prototype.js does it: arrays become texts of JSON. */
const SPOILT = `<script>
Array.prototype.toJSON = function () { return '[' + this.map(JSON.stringify).join(', ') + ']'; };
</script>`;

/** As its older versions did it, and worse. */
const VERY_SPOILT = `${SPOILT}<script>
Date.prototype.toJSON = function () { return '"' + this.toISOString() + '"'; };
Object.prototype.toJSON = function () { return '{' + Object.keys(this) + '}'; };
String.prototype.toJSON = function () { return '"' + this + '"'; };
</script>`;

const WHEN = '2026-03-01T12:00:00.000Z';
const TAGS = { list: [1, [2, { three: [true, null] }]], when: WHEN, plain: { a: 'b' }, own: 'own' };

/** Calls with such tags, made by a script in the page. */
const calls = (name: string) => `<script>{
  class Own { toJSON() { return 'own'; } }
  const tags = { list: [1, [2, { three: [true, null] }]], when: new Date('${WHEN}'), plain: { a: 'b' }, own: new Own() };
  analytics.identify('user_1', { tags });
  analytics.event('${name}', { tags, timestamp: new Date('${WHEN}') });
}</script>`;

test('sends what the page means where a library gives all arrays a toJSON @relay', async ({
  page,
  service,
  site,
}) => {
  // The first before the script is there, by the stub.
  const release = site.hold('/dist/outbox.js');
  const early = { head: SPOILT, body: calls('early') };
  await page.goto(site.page('/', site.tagged({}, early)), { waitUntil: 'commit' });
  release();
  await service.holds({ events: ['early'], identifies: ['user_1'] }, { pages: [page] });
  const late = { head: VERY_SPOILT, body: calls('late'), attributes: '' };
  await page.goto(site.page('/next', site.tagged({}, late)));
  await service.holds(
    { events: ['early', 'late'], identifies: ['user_1', 'user_1'] },
    { pages: [page] },
  );
  for (const { tags, timestamp } of await service.events()) {
    expect(tags).toEqual(TAGS);
    expect(timestamp).toBe(WHEN);
  }
  for (const { properties } of await service.identifies()) {
    expect(properties).toEqual({ tags: TAGS });
  }
});

test('finds what a page without a database has left there', async ({
  page,
  context,
  guest,
  service,
  site,
}) => {
  await breakStorage(context, 'is missing');
  await service.faults([{ status: 503, headers: { 'retry-after': '60' } }]);
  await page.goto(site.page('/', site.tagged({ flushAt: 1 }, { head: VERY_SPOILT })));
  await track(page, names(10));
  await expect.poll(() => statusOf(page)).toMatchObject({ waiting: 10, paused: 'backoff' });
  await service.faults([]);
  await page.goto(laterPage({ guest, site }, '/later'));
  await service.holds({ events: names(10) }, { pages: [page] });
});
