import { heard, listening } from '../support/heard.js';
import { names } from '../support/names.js';
import { TOKEN } from '../support/service.js';
import { statusOf } from '../support/status-of.js';
import { expect, test } from '../support/test.js';
import { track } from '../support/track.js';

// Without a wait of the relay's own, which runs by the real clock and would outlast the page's.
test.use({ mode: 'relay', relayOptions: { random: () => 0 } });

test('keeps all while the service refuses the relay’s token, says so once, and goes on with a new one', async ({
  page,
  relay,
  service,
  site,
}) => {
  relay.setToken('wrong');
  await page.goto(site.page('/', site.tagged({}, listening)));
  await track(page, names(20));
  await expect.poll(() => statusOf(page)).toMatchObject({ paused: 'setup', inFlight: 0 });
  await track(page, names(20, 'later'));
  // Another try fails as well; no second word of it.
  const before = relay.requests.length;
  await expect.poll(() => relay.requests.length, { timeout: 20_000 }).toBeGreaterThan(before);
  expect(await service.events()).toEqual([]);
  expect(await statusOf(page)).toMatchObject({ unknown: 0, delivered: 0, dropped: {} });

  relay.setToken(TOKEN);
  await service.holds(
    { events: [...names(20), ...names(20, 'later')] },
    { pages: [page], within: 40_000 },
  );
  expect(await heard(page, 'error')).toMatchObject([{ kind: 'setup', status: 401 }]);
  expect(await heard(page, 'drop')).toEqual([]);
  expect(relay.errors).toMatchObject([{ kind: 'setup', status: 401 }]);
});

test.describe('where the token has been renewed', () => {
  let asked: number;
  test.beforeEach(() => {
    asked = 0;
  });
  test.use({ relayOptions: { token: () => (asked++ > 0 ? TOKEN : 'stale') } });

  test('asks for it, and the page hears nothing', async ({ page, relay, service, site }) => {
    await page.goto(site.page('/', site.tagged({}, listening)));
    await track(page, names(20));
    await service.holds({ events: names(20) }, { pages: [page] });
    expect(asked).toBe(2);
    expect(relay.requests).toHaveLength(1);
    expect([...(await heard(page, 'error')), ...relay.errors]).toEqual([]);
    expect((await heard(page, 'outcome')).map(({ outcome }) => outcome)).toEqual(
      Array(20).fill('delivered'),
    );
  });
});
