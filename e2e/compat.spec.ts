import { createRequire } from 'node:module';
import { inline } from './support/html.js';
import { TOKEN } from './support/service.js';
import { expect, test } from './support/test.js';

/** Segment's own templates of its stub, of the version that is in their documentation. */
const snippet = createRequire(import.meta.url)('@segment/snippet') as {
  min: (settings: { apiKey: string; page: boolean }) => string;
};

/** As a site without a bundler has it, beside the tag. */
const moduleTag = (code: string) => `<script type="module">${code}</script>`;
const ASIDE = { global: 'outbox', flushInterval: 50 };

const rowsOf = (events: { event: string; tags: object; user_id: string | null }[]) =>
  events.map(({ event, tags, user_id }) => [event, tags, user_id]);

test('calls that wait in the stub of Segment arrive, in order, and those after them', async ({
  page,
  guest,
  service,
  site,
}) => {
  guest.allowGlobals('outbox', 'kept', 'heard');
  guest.allow(/ERR_FAILED/);
  await page.route('https://cdn.segment.com/**', (route) => route.abort());
  const calls = inline(`
    window.heard = [];
    window.kept = analytics.track;
    analytics.identify('u1', { plan: 'pro' }, function () { heard.push('identified') });
    analytics.track('Past', { a: 1 }, { timestamp: '2026-03-01T12:00:00.000Z' });
    analytics.on('track', function (event) { heard.push(event) });
    analytics.ready(function () { heard.push('ready') });
    analytics.setAnonymousId('ABC-123-XYZ');
    analytics.addIntegrationMiddleware(function () {});
    analytics.alias('u2');
    analytics.debug(true);
    analytics.group('g1', { site: 'A' });
    history.replaceState(null, '', '/later');
  `);
  const head = inline(snippet.min({ apiKey: 'KEY', page: true })) + calls;
  const takeOver = moduleTag(`
    import { takeOverSegment } from '/dist/compat-segment.js';
    takeOverSegment(window.outbox);
    window.dispatchEvent(new Event('taken'));
  `);
  const done = moduleTag(`
    analytics.page('Docs', 'Index');
    kept('Kept');
    await analytics.track('After');
    analytics.reset();
    analytics.track('Nobody');
    analytics.screen();
  `);
  const tagged = site.tagged(ASIDE, { head, body: takeOver + done });
  // The stub and the tag use another global here, as Segment has `analytics`.
  await page.goto(site.page('/first', tagged.replace('(window,"analytics")', '(window,"outbox")')));
  await service.holds({
    events: [
      ...['Page Viewed', 'Past', 'Group Joined', 'Page Viewed', 'Kept', 'After', 'Nobody'],
      'Page Viewed',
    ],
    identifies: ['u1'],
  });
  const first = { path: '/first', title: 'A page', referrer: '' };
  const later = { path: '/later', title: 'A page', referrer: '' };
  const events = await service.events();
  const expected = [
    ['Page Viewed', first, null],
    ['Past', { a: 1 }, 'u1'],
    ['Group Joined', { group_id: 'g1', site: 'A' }, 'u1'],
    ['Page Viewed', { ...later, category: 'Docs', name: 'Index' }, 'u1'],
    ['Kept', {}, 'u1'],
    ['After', {}, 'u1'],
    ['Nobody', {}, null],
    ['Page Viewed', later, null],
  ];
  expect(rowsOf(events)).toEqual(expect.arrayContaining(expected));
  expect(events.find(({ event }) => event === 'Past')!.timestamp).toBe('2026-03-01T12:00:00.000Z');
  const heard = await page.evaluate(() => (globalThis as unknown as { heard: string[] }).heard);
  expect(heard.sort()).toEqual(['After', 'Kept', 'Nobody', 'Past', 'identified', 'ready']);
  const status = await page.evaluate(() =>
    (globalThis as unknown as { outbox: typeof analytics }).outbox.status(),
  );
  expect(status.dropped).toEqual({ 'not-supported': 4 });
  const flags = await page.evaluate(
    '[analytics.initialized, analytics.length, !!analytics.initialize]',
  );
  expect(flags).toEqual([true, 0, true]);
});

test('calls that wait for the script of LogSnag arrive, in order, and those after them', async ({
  page,
  guest,
  service,
  site,
}) => {
  guest.allowGlobals('ls', 'lsq');
  const head = inline(`
    window.lsq = window.lsq || [];
    window.ls = window.ls || ((...args) => window.lsq.push(args));
    window.ls('setConfig', '${TOKEN}', 'project');
    window.ls('setUserId', 'u1');
    window.ls('track', { channel: 'payments', event: 'Past', timestamp: 1700000000, tags: { a: 1 } });
  `);
  const body = moduleTag(`
    import { takeOverLogSnag } from '/dist/compat-logsnag.js';
    takeOverLogSnag(window.analytics);
    window.ls('identify', { properties: { plan: 'pro' } });
    window.ls('track', { event: 'After', icon: '🎉', notify: true, user_id: 'u2' });
    window.ls('clearUserId');
    window.ls('track', { event: 'Nobody' });
  `);
  await page.goto(site.page('/', site.tagged({ flushInterval: 50 }, { head, body })));
  await service.holds({ events: ['Past', 'After', 'Nobody'], identifies: ['u1', 'u1'] });
  const events = await service.events();
  const byName = Object.fromEntries(events.map((row) => [row.event, row]));
  expect(byName['Past']).toMatchObject({
    ...{ channel: 'payments', timestamp: '2023-11-14T22:13:20.000Z' },
    ...{ tags: { a: 1 }, user_id: 'u1', notify: false },
  });
  expect(byName['After']).toMatchObject({ channel: 'c', icon: '🎉', notify: true, user_id: 'u2' });
  expect(byName['Nobody']).toMatchObject({ user_id: null });
  const [profile] = await service.profiles();
  expect(profile).toMatchObject({ user_id: 'u1', properties: { plan: 'pro' } });
});
