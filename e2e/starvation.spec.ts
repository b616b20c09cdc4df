import type { Page } from '@playwright/test';
import { names } from './support/names.js';
import { BARE, trackAndGo } from './support/leave.js';
import { requestsFor } from './support/requests-for.js';
import type { Relay } from './support/relay.js';
import type { Service } from './support/service.js';
import { LONGEST, steadyBackoff } from './support/steady-backoff.js';
import { statusOf } from './support/status-of.js';
import { storedFlight } from './support/stored-records.js';
import { stopAtRest } from './support/stop-at-rest.js';
import { expect, test } from './support/test.js';
import { track } from './support/track.js';

const BAD = 'bad';
const VISITS = 3;
/** A visit is over after this time, or as soon as its own events have arrived. */
const VISIT_MS = 6_000;

interface Parts {
  service: Service;
  relay: Relay;
}

/** Something dislikes one record, and answers it with this status, always. */
type Dislike = (parts: Parts, status: number) => unknown;

const hasArrived = async (service: Service, events: readonly string[]): Promise<boolean> => {
  const stored = (await service.events()).map(({ event }) => event);
  return events.every((event) => stored.includes(event));
};

/** Waits until no request is under way. */
const rest = (page: Page) =>
  expect.poll(() => statusOf(page), { timeout: VISIT_MS }).toMatchObject({ inFlight: 0 });

const testStarvation = (status: number, tag: string[], dislike: Dislike, heal: Dislike) =>
  test(
    `fresh events pass one record that is always answered ${status}, in every visit`,
    { tag },
    async ({ page, service, site, ground }) => {
      test.slow();
      const parts = { service, relay: ground.relay! };
      await dislike(parts, status);
      await page.goto(site.page('/visit-0', site.tagged()));
      await track(page, [BAD]);
      const fresh: string[] = [];
      for (let visit = 0; visit < VISITS; visit++) {
        if (visit > 0) await page.goto(site.page(`/visit-${visit}`, site.tagged()));
        const events = names(2, `visit ${visit}, event`);
        await track(page, events);
        fresh.push(...events);
        await expect
          .poll(() => hasArrived(service, events), {
            message: `the events of visit ${visit}`,
            timeout: VISIT_MS,
          })
          .toBe(true);
        if (visit < VISITS - 1) await stopAtRest(page);
      }
      await service.holds({ events: fresh });
      expect(await statusOf(page)).toMatchObject({ dropped: {} });
      await stopAtRest(page);

      // It is kept, and delivered once it is liked.
      await heal(parts, status);
      await page.goto(site.page('/last', site.tagged()));
      await service.holds({ events: [...fresh, BAD] }, { pages: [page], within: 45_000 });
    },
  );

/** A request takes this long at most to reach the service, and its answer to reach the page. */
const LATENCY_MS = 500;
/** So old is its trouble when the test has seen enough. */
const OLD_MS = 12_000;

const testPatience = (tag: string[], dislike: Dislike) =>
  test(
    'one record that fails is tried ever more rarely, however many pages are opened meanwhile',
    { tag },
    async ({ context, page, service, site, ground }) => {
      test.slow();
      await steadyBackoff(context, LONGEST);
      await dislike({ service, relay: ground.relay! }, 403);
      await page.goto(site.page('/', site.tagged()));
      await track(page, [BAD]);
      /** When it was tried, as whoever dislikes it has seen. */
      const tries = async () =>
        ground.relay
          ? ground.relay.requests.filter(({ events }) => events.includes(BAD)).map(({ at }) => at)
          : (await requestsFor(service, BAD)).map(({ at }) => at);
      const age = async () => {
        const times = await tries();
        return times.at(-1)! - times[0]!;
      };
      await expect.poll(tries).toHaveLength(1);
      for (let visit = 0; (await age()) < OLD_MS; visit++) {
        // It passes, so that no pause of the destination holds back the other.
        await track(page, [`visit ${visit}`]);
        await expect.poll(() => hasArrived(service, [`visit ${visit}`])).toBe(true);
        await stopAtRest(page);
        await page.goto(site.page(`/visit-${visit}`, site.tagged()));
      }
      const times = await tries();
      times.slice(1).forEach((at, i) => {
        const failed = times[i]!;
        const wait = Math.max(1_000, (failed - times[0]!) / 2);
        expect(at - failed).toBeGreaterThanOrEqual(wait - LATENCY_MS);
      });
    },
  );

/** So long after its last attempt a record is tried again. */
const LONGEST_WAIT_MS = 301_000;

/** Nothing passes for an hour but this record fails again and again. That says nothing of the service. */
const testIdlePage = (tag: string[]) =>
  test(
    'an event goes at once though one record has failed for an hour',
    { tag },
    async ({ page, service, site }) => {
      test.slow();
      await page.clock.install();
      await page.goto(site.page('/', site.tagged()));
      await service.faults([{ match: { event: BAD }, status: 403 }]);
      await track(page, [BAD]);
      const tries = async () => (await requestsFor(service, BAD)).length;
      await expect.poll(tries).toBeGreaterThan(0);
      await track(page, ['first']);
      await expect.poll(() => hasArrived(service, ['first'])).toBe(true);
      for (let i = 0; i < 12; i++) {
        const before = await tries();
        await page.clock.fastForward(LONGEST_WAIT_MS);
        await expect.poll(tries, { timeout: 20_000 }).toBeGreaterThan(before);
        await rest(page);
        // Or the leap past its lease would leave the page without what the last answer said.
        await expect.poll(() => storedFlight(page)).toEqual([]);
      }
      await track(page, ['late']);
      await expect.poll(() => hasArrived(service, ['late']), { timeout: VISIT_MS }).toBe(true);
      await rest(page);
      // Also if it is called as the page goes.
      await trackAndGo(page, ['last'], site.page('/bare', BARE));
      await service.holds({ events: ['first', 'late', 'last'] });
    },
  );

const byService: Dislike = ({ service }, status) =>
  service.faults([{ match: { event: BAD }, status }]);
const byFirewall: Dislike = ({ relay }, status) => relay.faults([{ event: BAD, status }]);
const everyone: Dislike = async ({ service, relay }) => {
  await service.faults([]);
  (relay as Relay | undefined)?.faults([]);
};

test.describe('direct', () => {
  testIdlePage([]);
  testPatience([], byService);
  for (const status of [403, 404, 429, 500]) {
    testStarvation(status, status === 403 ? ['@smoke'] : [], byService, everyone);
  }
});

test.describe('by relay, where the service dislikes it', () => {
  // Without the idle page: its hour is that of the page's clock, and the relay waits by its own.
  test.use({ mode: 'relay' });
  for (const status of [403, 404, 429, 500]) testStarvation(status, [], byService, everyone);
});

test.describe('by relay, where a firewall before the relay dislikes it', () => {
  test.use({ mode: 'relay' });
  testPatience([], byFirewall);
  for (const status of [403, 404, 429]) testStarvation(status, [], byFirewall, everyone);
});
