import { BARE, openPopup, trackAndClose } from './support/leave.js';
import type { Service } from './support/service.js';
import type { Relay } from './support/relay.js';
import { test } from './support/test.js';
import {
  CALLS_AFTER_IT,
  eventsOf,
  LONGER_OUTAGE,
  SHORT_OUTAGE,
  spendVisit,
  type Visit,
} from './support/visit.js';

/** The visitor has left for good, so what has not arrived by now never will. */
const NOBODY_SENDS_MS = 2_000;

interface Trouble {
  begin: () => unknown;
  end: () => unknown;
}

/** What fails: the service as it is seen by whoever asks it, a page or a relay. */
const ofService = {
  'the service answers 503': (service: Service): Trouble => ({
    begin: () => service.faults([{ status: 503 }]),
    end: () => service.faults([]),
  }),
  'the service refuses connections': (service: Service): Trouble => ({
    begin: service.stop,
    end: service.start,
  }),
};

/** What fails between a page and its relay. */
const ofRelay = {
  'the relay answers 503': (relay: Relay): Trouble => ({
    begin: () => relay.faults([{ status: 503 }]),
    end: () => relay.faults([]),
  }),
  'the relay breaks connections': (relay: Relay): Trouble => ({
    begin: () => relay.faults([{ reset: true }]),
    end: () => relay.faults([]),
  }),
};

const visits: Record<string, Visit> = {
  '3 s, and the tab is closed at 15 s': SHORT_OUTAGE,
  '3 s, and events are called during it and after it': CALLS_AFTER_IT,
  '8 s, and more events are called after it': LONGER_OUTAGE,
};

/** Spends a visit in a tab that closes itself, and says what has to be stored when it is over. */
const testVisit = (
  name: string,
  visit: Visit,
  tag: string[],
  troubleOf: (parts: Parts) => Trouble,
) =>
  test(name, { tag }, async ({ page, service, site, ground }) => {
    const trouble = troubleOf({ service, relay: ground.relay! });
    await page.goto(site.page('/bare', BARE));
    const popup = await openPopup(page, site.page('/', site.tagged()));
    await trouble.begin();
    const arrived = async () => (await service.events()).length;
    await spendVisit(popup, visit, { heal: trouble.end, arrived });
    await trackAndClose(popup, []);
    await service.holds({ events: eventsOf(visit) }, { within: NOBODY_SENDS_MS });
  });

interface Parts {
  service: Service;
  relay: Relay;
}

/** The service fails the first five requests, whichever they are. */
const testFiveFailures = (tag: string[], fail: (parts: Parts) => unknown) =>
  test(
    'five answers of 500, and all arrive within 15 s',
    { tag },
    async ({ page, service, site, ground }) => {
      await page.goto(site.page('/bare', BARE));
      const popup = await openPopup(page, site.page('/', site.tagged()));
      await fail({ service, relay: ground.relay! });
      const visit = { ...SHORT_OUTAGE, awayMs: 0 };
      const arrived = async () => (await service.events()).length;
      await spendVisit(popup, visit, { heal: () => undefined, arrived });
      await trackAndClose(popup, []);
      await service.holds({ events: eventsOf(visit) }, { within: NOBODY_SENDS_MS });
    },
  );

test.describe('one visit delivers everything, direct', () => {
  for (const [what, troubleOf] of Object.entries(ofService)) {
    for (const [how, visit] of Object.entries(visits)) {
      const tag = visit === SHORT_OUTAGE ? ['@smoke'] : [];
      testVisit(`where ${what} for ${how}`, visit, tag, ({ service }) => troubleOf(service));
    }
  }
  testFiveFailures(['@smoke'], ({ service }) => service.faults([{ status: 500, times: 5 }]));
});

test.describe('one visit delivers everything by relay', () => {
  test.use({ mode: 'relay' });

  for (const [what, troubleOf] of Object.entries(ofRelay)) {
    for (const [how, visit] of Object.entries(visits)) {
      testVisit(`where ${what} for ${how}`, visit, [], ({ relay }) => troubleOf(relay));
    }
  }
  // What the service does behind a relay is the relay's to bridge, and the same for every visit.
  for (const [what, troubleOf] of Object.entries(ofService)) {
    const how = '3 s, and the tab is closed at 15 s';
    testVisit(`where ${what} for ${how}`, SHORT_OUTAGE, [], ({ service }) => troubleOf(service));
  }
  testFiveFailures([], ({ relay }) => relay.faults([{ status: 500, times: 5 }]));
});
