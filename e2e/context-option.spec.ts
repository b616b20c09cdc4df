import { heard, listening } from './support/heard.js';
import { setupOf } from './support/setup-of.js';
import { statusOf } from './support/status-of.js';
import { expect, test } from './support/test.js';

const script = (code: string): string => `<script>${code}</script>`;

test('the option `context` gives tags to every event, as they are at the call; tags of the call win', async ({
  page,
  guest,
  service,
  site,
}) => {
  guest.allowGlobals('page', 'pageTags');
  const head = script(
    `window.page = { name: 'first', deep: { a: [1] } };
     window.pageTags = () => ({ page: page.name, deep: page.deep, plan: 'context' });`,
  );
  await page.goto(site.page('/', site.tagged({ context: 'pageTags' }, { head })));
  await page.evaluate(() => {
    const { page } = globalThis as unknown as { page: { name: string; deep: { a: number[] } } };
    analytics.event('one');
    page.name = 'second';
    page.deep.a.push(2);
    analytics.event('two', { plan: 'call' });
    analytics.event('three', { tags: { plan: 'tags' } });
    analytics.identify('user_1', { seats: 1 });
  });
  await service.holds(
    { events: ['one', 'two', 'three'], identifies: ['user_1'] },
    { pages: [page] },
  );
  const tags = (await service.events()).map(({ event, tags }) => [event, tags]);
  expect(Object.fromEntries(tags)).toEqual({
    one: { page: 'first', deep: { a: [1] }, plan: 'context' },
    two: { page: 'second', deep: { a: [1, 2] }, plan: 'call' },
    three: { page: 'second', deep: { a: [1, 2] }, plan: 'tags' },
  });
  expect((await service.identifies())[0]!.properties).toEqual({ seats: 1 });
});

test('a `context` that is an object, of an event that `beforeSend` changes, stays as it is', async ({
  page,
  guest,
  service,
  site,
}) => {
  guest.allowGlobals('shared', 'change');
  const head = script(
    `window.shared = { app: { name: 'shop' } };
     window.change = (draft) => { draft.body.tags.app.name = 'changed'; return draft; };`,
  );
  const options = { context: 'shared', beforeSend: 'change' };
  await page.goto(site.page('/', site.tagged(options, { head })));
  await page.evaluate(() => void analytics.event('one'));
  await service.holds({ events: ['one'] }, { pages: [page] });
  expect((await service.events())[0]!.tags).toEqual({ app: { name: 'changed' } });
  const shared = await page.evaluate(
    () => (globalThis as unknown as { shared: { app: { name: string } } }).shared,
  );
  expect(shared).toEqual({ app: { name: 'shop' } });
});

for (const [how, body] of [
  ['throws', `throw new Error('no tags today')`],
  ['gives what JSON cannot carry', `const all = {}; all.all = all; return all`],
]) {
  test(`a \`context\` that ${how} costs no event`, async ({ page, guest, service, site }) => {
    guest.allowGlobals('pageTags');
    const style = { head: script(`window.pageTags = () => { ${body} };`) };
    await page.goto(site.page('/', site.tagged({ context: 'pageTags' }, style)));
    await page.evaluate(() => {
      analytics.event('one', { plan: 'pro' });
      analytics.event('two');
    });
    await service.holds({ events: ['one', 'two'] }, { pages: [page] });
    const tags = (await service.events()).map(({ event, tags }) => [event, tags]);
    expect(Object.fromEntries(tags)).toEqual({ one: { plan: 'pro' }, two: {} });
  });
}

test('`context` is not asked while consent is denied', async ({ page, guest, site }) => {
  guest.allowGlobals('pageTags');
  const head = script(`window.pageTags = () => { document.title = 'asked'; return {}; };`);
  await page.goto(
    site.page('/', site.tagged({ context: 'pageTags', consent: 'denied' }, { head })),
  );
  await page.evaluate(() => void analytics.event('one'));
  await expect.poll(() => statusOf(page)).toMatchObject({ dropped: { 'consent-denied': 1 } });
  await expect(page).toHaveTitle('A page');
});

test('ids that stand for no id are refused', async ({ page, service, site }) => {
  const none = ['', 'undefined', 'null', '[object Object]'];
  await page.goto(site.page('/', site.tagged({}, listening)));
  await page.evaluate((none) => {
    analytics.identify('user_1');
    for (const id of none) {
      analytics.identify(id);
      analytics.event('refused', { userId: id });
      analytics.event('refused', { user_id: id });
    }
    analytics.event('kept');
    analytics.event('another', { userId: 'undefined_2' });
  }, none);
  await service.holds({ events: ['kept', 'another'], identifies: ['user_1'] }, { pages: [page] });
  const users = (await service.events()).map(({ user_id }) => user_id);
  expect(users.sort()).toEqual(['undefined_2', 'user_1']);
  const drops = await heard(page, 'drop');
  expect(drops.map(({ reason }) => reason)).toEqual(Array(3 * none.length).fill('invalid-call'));
});

test('listeners hear of consent when `init` finds it out and as it changes, and of a reset', async ({
  page,
  service,
  site,
}) => {
  const nothing = { baseUrl: undefined, token: undefined, project: undefined, channel: undefined };
  await page.goto(site.page('/', site.tagged(nothing, { attributes: '' })));
  await page.evaluate((options) => {
    const hear = (what: string) => void (document.title += ` ${what}`);
    analytics.on('consent', ({ consent }) => hear(consent));
    analytics.on('reset', () => hear('reset'));
    analytics.init({ ...options, consent: 'pending' });
    analytics.setConsent('granted');
    analytics.setConsent('granted');
    analytics.reset();
    analytics.setConsent('denied');
  }, setupOf(service));
  await expect(page).toHaveTitle('A page pending granted reset denied');
});

test('a `context` that is an object with a cycle is no error of `init`, and costs no event', async ({
  page,
  service,
  site,
}) => {
  const nothing = { baseUrl: undefined, token: undefined, project: undefined, channel: undefined };
  await page.goto(site.page('/', site.tagged(nothing)));
  await page.evaluate((options) => {
    const context: Record<string, unknown> = {};
    context['itself'] = context;
    analytics.init({ ...options, context });
    analytics.event('one', { plan: 'pro' });
    analytics.init({ ...options, context });
    analytics.event('two');
  }, setupOf(service));
  await service.holds({ events: ['one', 'two'] }, { pages: [page] });
  const tags = (await service.events()).map(({ event, tags }) => [event, tags]);
  expect(Object.fromEntries(tags)).toEqual({ one: { plan: 'pro' }, two: {} });
});
