import { createRequire } from 'node:module';
import { inline } from './support/html.js';
import { expect, test } from './support/test.js';

/** Segment's own templates of its stub, of the version that is in their documentation. */
const snippet = createRequire(import.meta.url)('@segment/snippet') as {
  min: (settings: { apiKey: string; page: boolean }) => string;
};

test('calls that wait in the stub of Segment arrive, and those after them', async ({
  page,
  guest,
  service,
  site,
}) => {
  guest.allowGlobals('outbox', 'kept');
  guest.allow(/ERR_FAILED/);
  await page.route('https://cdn.segment.com/**', (route) => route.abort());
  const head = inline(`${snippet.min({ apiKey: 'KEY', page: true })}
    window.kept = analytics.track;
    analytics.identify('u1', { plan: 'pro' });
    analytics.track('Past', { a: 1 }, { timestamp: '2026-03-01T12:00:00.000Z' });
    analytics.alias('u2');
    analytics.group('g1', { site: 'A' });
    history.replaceState(null, '', '/later');
  `);
  const body = `<script type="module">
    import { takeOverSegment } from '/dist/compat-segment.js';
    takeOverSegment(window.outbox);
    analytics.page('Docs', 'Index');
    kept('Kept');
    await analytics.track('After');
    analytics.reset();
    analytics.track('Nobody');
  </script>`;
  // The stub and the tag use another global here, as Segment has `analytics`.
  const tagged = site.tagged({ global: 'outbox' }, { head, body });
  await page.goto(site.page('/first', tagged.replace('(window,"analytics")', '(window,"outbox")')));
  const expected = [
    ['Page Viewed', { path: '/first', title: 'A page', referrer: '' }, null],
    ['Past', { a: 1 }, 'u1'],
    ['Group Joined', { group_id: 'g1', site: 'A' }, 'u1'],
    [
      'Page Viewed',
      { path: '/later', title: 'A page', referrer: '', category: 'Docs', name: 'Index' },
      'u1',
    ],
    ['Kept', {}, 'u1'],
    ['After', {}, 'u1'],
    ['Nobody', {}, null],
  ] as const;
  await service.holds({ events: expected.map(([event]) => event), identifies: ['u1'] });
  const events = await service.events();
  expect(events.map(({ event, tags, user_id }) => [event, tags, user_id])).toEqual(
    expect.arrayContaining([...expected]),
  );
  expect(events.find(({ event }) => event === 'Past')!.timestamp).toBe('2026-03-01T12:00:00.000Z');
  const dropped = await page.evaluate(
    () => (globalThis as unknown as { outbox: typeof analytics }).outbox.status().dropped,
  );
  expect(dropped).toEqual({ 'not-supported': 1 });
});

test('a snippet of Segment’s below the stub shares the global: the site stays alive, and is told which name to change', async ({
  page,
  guest,
  service,
  site,
}) => {
  guest.allow(/ERR_FAILED|Segment's snippet/);
  await page.route('https://cdn.segment.com/**', (route) => route.abort());
  const told = page.waitForEvent('console', (message) =>
    message.text().includes("Segment's snippet uses window.analytics, too: use"),
  );
  const release = site.hold('/dist/outbox.js');
  const below = inline(`${snippet.min({ apiKey: 'KEY', page: true })};
    analytics.track('Theirs');
    analytics.event('ours');`);
  const address = site.page('/', site.tagged({}, { body: below }));
  await page.goto(address, { waitUntil: 'commit' });
  await page.waitForFunction(() => document.readyState !== 'loading');
  release();
  await told;
  await page.evaluate(() => {
    (analytics as unknown as { track: (name: string) => void }).track('Theirs');
    analytics.event('ours, later');
  });
  await service.holds({ events: ['ours', 'ours, later'] }, { pages: [page] });
});
