import { BARE, openPopup, trackAndClose } from './support/leave.js';
import type { Service } from './support/service.js';
import type { Relay } from './support/relay.js';
import { test } from './support/test.js';
import { eventsOf, SHORT_OUTAGE, spendVisit } from './support/visit.js';

/** The visitor has left for good, so what has not arrived by now never will. */
const NOBODY_SENDS_MS = 2_000;

interface Trouble {
  begin: () => unknown;
  end: () => unknown;
}

/** Spends a visit of somebody who never comes back in a tab that closes itself, and says what has to be stored. */
const testVisit = (
  name: string,
  tag: string[],
  troubleOf: (parts: { service: Service; relay: Relay }) => Trouble,
) =>
  test(
    `one visit delivers everything where ${name} for 3 s`,
    { tag },
    async ({ page, service, site, ground }) => {
      const trouble = troubleOf({ service, relay: ground.relay! });
      await page.goto(site.page('/bare', BARE));
      const popup = await openPopup(page, site.page('/', site.tagged()));
      await trouble.begin();
      const arrived = async () => (await service.events()).length;
      await spendVisit(popup, SHORT_OUTAGE, { heal: trouble.end, arrived });
      await trackAndClose(popup, []);
      await service.holds({ events: eventsOf(SHORT_OUTAGE) }, { within: NOBODY_SENDS_MS });
    },
  );

testVisit('the service answers 503', ['@smoke'], ({ service }) => ({
  begin: () => service.faults([{ status: 503 }]),
  end: () => service.faults([]),
}));

testVisit('the service refuses connections', ['@smoke'], ({ service }) => ({
  begin: service.stop,
  end: service.start,
}));

test.describe('by relay', () => {
  test.use({ mode: 'relay' });

  testVisit('the relay breaks connections', [], ({ relay }) => ({
    begin: () => relay.faults([{ reset: true }]),
    end: () => relay.faults([]),
  }));
});
