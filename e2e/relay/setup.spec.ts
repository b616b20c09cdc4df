import { heard, listening } from '../support/heard.js';
import { names } from '../support/names.js';
import { TOKEN } from '../support/service.js';
import { expect, test } from '../support/test.js';
import { track } from '../support/track.js';

// Without a wait of the relay's own, which runs by the real clock and would outlast the page's.
test.use({ mode: 'relay', relayOptions: { random: () => 0 } });

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
