import { heard, listening } from './support/heard.js';
import { names } from './support/names.js';
import { setupOf } from './support/setup-of.js';
import { rests } from './support/rests.js';
import { statusOf } from './support/status-of.js';
import { CHANNEL, expect, PROJECT, test } from './support/test.js';
import { track } from './support/track.js';

/** Leaves the set-up to the page's own `init`. */
const unset = { baseUrl: undefined, token: undefined, project: undefined, channel: undefined };

/** Longer than any wait after a failure. */
const LATER_MS = 301_000;

test('keeps all while the token is wrong, says so once, and goes on with a new one @smoke', async ({
  page,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged({ token: 'wrong' }, listening)));
  await track(page, names(20));
  await expect.poll(() => heard(page, 'error')).toHaveLength(1);
  await track(page, names(20, 'later'));
  await page.evaluate(() => analytics.flush());
  expect(await service.events()).toEqual([]);
  await expect
    .poll(() => statusOf(page))
    .toMatchObject({ paused: 'setup', waiting: 40, inFlight: 0, dropped: {} });
  await page.evaluate((options) => analytics.init(options), setupOf(service));
  await service.holds({ events: [...names(20), ...names(20, 'later')] }, { pages: [page] });
  expect(await heard(page, 'error')).toMatchObject([
    {
      kind: 'setup',
      status: 401,
      message: expect.stringContaining(`${service.url}/v1/event: 401 {`),
    },
  ]);
  expect(await heard(page, 'drop')).toEqual([]);
  const passed = (await service.requests()).filter(({ status }) => status === 200);
  expect(passed).toHaveLength(40);
});

for (const status of [401, 403, 404, 405]) {
  const name = `goes on by itself when what answered ${status} heals`;
  const tag = status === 401 ? ['@smoke'] : [];
  test(name, { tag }, async ({ page, service, site, guest }) => {
    await page.clock.install();
    // By the option, not by `on`.
    guest.allowGlobals('onError', 'errors');
    const head = `<script>errors = []; function onError(error) { errors.push(error); }</script>`;
    await page.goto(site.page('/', site.tagged({ onError: 'onError' }, { head })));
    const errors = () =>
      page.evaluate(() => (window as unknown as { errors: { status?: number }[] }).errors);
    await service.faults([{ status }]);
    await track(page, names(20));
    await expect.poll(errors).toMatchObject([{ kind: 'setup', status }]);
    await expect.poll(() => statusOf(page)).toMatchObject({ inFlight: 0, waiting: 20 });
    await rests(page);
    const refused = (await service.requests()).length;
    // Another try fails as well; no second word of it.
    await page.clock.fastForward(LATER_MS);
    await expect.poll(async () => (await service.requests()).length).toBeGreaterThan(refused);
    await service.faults([]);
    await track(page, ['last']);
    await rests(page);
    await page.clock.fastForward(LATER_MS);
    await service.holds({ events: [...names(20), 'last'] }, { pages: [page] });
    expect(await errors()).toHaveLength(1);
    expect(await statusOf(page)).toMatchObject({ dropped: {} });
  });
}

/** A page whose token function gives these, one a call, the last for ever. */
const withTokens = (tokens: readonly string[], service: { url: string }) => ({
  ...listening,
  body: `${listening.body}<script>
  tokenCalls = 0;
  analytics.init({
    baseUrl: '${service.url}', project: '${PROJECT}', channel: '${CHANNEL}',
    token: async () => {
      const tokens = ${JSON.stringify(tokens)};
      return tokens[Math.min(tokenCalls++, tokens.length - 1)];
    },
  });
</script>`,
});

test('asks for another token once after a 401, and says nothing when that one passes', async ({
  page,
  service,
  site,
  guest,
}) => {
  guest.allowGlobals('tokenCalls');
  const style = withTokens(['stale', service.token], service);
  await page.goto(site.page('/', site.tagged(unset, style)));
  await track(page, names(20));
  await service.holds({ events: names(20) }, { pages: [page] });
  expect(await page.evaluate('tokenCalls')).toBe(2);
  expect(await heard(page, 'error')).toEqual([]);
  // It was never stored.
  expect(await page.evaluate(() => JSON.stringify({ ...localStorage }))).not.toMatch(/stale|token/);
});

test('asks once, then says so, when the other token is no better', async ({
  page,
  service,
  site,
  guest,
}) => {
  guest.allowGlobals('tokenCalls');
  const style = withTokens(['stale', 'stale-too', service.token], service);
  await page.goto(site.page('/', site.tagged(unset, style)));
  await track(page, names(20));
  // After the second refusal the function is asked anew: the site may have renewed its session meanwhile.
  await service.holds({ events: names(20) }, { pages: [page] });
  expect(await page.evaluate('tokenCalls')).toBe(3);
  expect(await heard(page, 'error')).toMatchObject([{ kind: 'setup', status: 401 }]);
  expect(await statusOf(page)).toMatchObject({ waiting: 0, dropped: {} });
});

test('does not wait on the next page because a page was left while it asked for its token', async ({
  page,
  service,
  site,
}) => {
  let isSlow = true;
  site.handle('/token', (_, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    if (!isSlow) response.end(service.token);
  });
  const style = {
    ...listening,
    body: `${listening.body}<script>
  analytics.init({
    baseUrl: '${service.url}', project: '${PROJECT}', channel: '${CHANNEL}',
    token: async () => (await fetch('/token')).text(),
    onError: ({ kind }) => (sessionStorage.told = kind),
  });
</script>`,
  };
  site.page('/last', site.tagged(unset, style));
  await page.goto(site.page('/', site.tagged(unset, style)));
  const asked = page.waitForRequest('**/token'); // the call itself asks
  await track(page, ['left']);
  await asked;
  isSlow = false;
  await page.goto(`${site.url}/last`);
  expect((await statusOf(page)).paused).toBeUndefined();
  await service.holds({ events: ['left'] }, { pages: [page] });
  expect(await page.evaluate(() => sessionStorage['told'] as unknown)).toBeUndefined();
});

test('keeps all while the token function fails, and says so once', async ({
  page,
  service,
  site,
  guest,
}) => {
  await page.clock.install();
  guest.allowGlobals('tokenFails');
  const style = {
    ...listening,
    body: `${listening.body}<script>
  tokenFails = true;
  analytics.init({
    baseUrl: '${service.url}', project: '${PROJECT}', channel: '${CHANNEL}',
    token: async () => {
      if (tokenFails) throw new Error('no session');
      return '${service.token}';
    },
  });
</script>`,
  };
  await page.goto(site.page('/', site.tagged(unset, style)));
  await track(page, names(20));
  await expect
    .poll(() => heard(page, 'error'))
    .toMatchObject([{ kind: 'token', message: expect.stringContaining('no session') }]);
  expect(await service.requests()).toEqual([]);
  await page.evaluate('tokenFails = false');
  await page.clock.fastForward(LATER_MS);
  await service.holds({ events: names(20) }, { pages: [page] });
  expect(await heard(page, 'error')).toHaveLength(1);
});

for (const [what, code] of [
  ['a dash that no header can carry', "'tok–en'"],
  ['two lines', "'tok\\nen'"],
  ['no string', '{}'],
] as const) {
  test(`keeps all while the token function gives ${what}, and says so once`, async ({
    page,
    service,
    site,
    guest,
  }) => {
    await page.clock.install();
    guest.allowGlobals('tokenGiven');
    const style = {
      ...listening,
      body: `${listening.body}<script>
  tokenGiven = ${code};
  analytics.init({
    baseUrl: '${service.url}', project: '${PROJECT}', channel: '${CHANNEL}',
    token: async () => tokenGiven,
  });
</script>`,
    };
    await page.goto(site.page('/', site.tagged(unset, style)));
    await track(page, names(20));
    await expect
      .poll(() => heard(page, 'error'))
      .toMatchObject([{ kind: 'token', message: expect.stringContaining('token: ') }]);
    expect(await statusOf(page)).toMatchObject({ paused: 'setup', waiting: 20, dropped: {} });
    expect(await service.requests()).toEqual([]);
    // From a file, it ends with a line break.
    await page.evaluate(`tokenGiven = '${service.token}\\n'`);
    await page.clock.fastForward(LATER_MS);
    await service.holds({ events: names(20) }, { pages: [page] });
    expect(await heard(page, 'error')).toHaveLength(1);
  });
}

test('asks the new token function after `init` with other options', async ({
  page,
  service,
  site,
}) => {
  await page.goto(site.page('/', site.tagged(unset, listening)));
  const { token, ...rest } = setupOf(service);
  const init = (text: string, flushAt: number) =>
    page.evaluate(([text, options]) => analytics.init({ ...options, token: () => text }), [
      text,
      { ...rest, flushAt },
    ] as const);
  await init(token, 1);
  await track(page, ['before']);
  await service.holds({ events: ['before'] }, { pages: [page] });
  await init('another', 2);
  await track(page, ['after', 'after']);
  await expect.poll(() => heard(page, 'error')).toMatchObject([{ kind: 'setup', status: 401 }]);
});
