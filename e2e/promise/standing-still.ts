import { setTimeout as pause } from 'node:timers/promises';
import type { Evaluates } from '../support/evaluates.js';
import { until } from '../support/until.js';
import type { Stage } from './stage.js';

const SEEN = 'seenByClock';
const LAG = 'lagOfClock';
/** No timer is as late as this in a page that runs. */
const STOOD_MS = 3_000;

const GATE = '/thaw';
const ASKS_WITHIN_MS = 10_000;

/**
 * Pages that can stand still for two minutes, as a tab does that the browser froze: the head for
 * `site.tagged`, and the function that freezes such a page.
 *
 * A synchronous request holds the whole page, which no browser lets a test do otherwise: what DevTools
 * freezes must be hidden, and Playwright keeps every page visible.
 */
const freezing = ({ site, guest }: Pick<Stage, 'site' | 'guest'>) => {
  guest.allowGlobals(LAG);
  guest.allow(/Synchronous XMLHttpRequest/);
  return {
    head: `<script>
  var ${LAG} = 0;
  { const { now } = Date; Date.now = () => now() + ${LAG}; }
</script>`,
    /** Resolves once the page stands still, with the function that thaws it two minutes later. */
    freeze: async (page: Evaluates): Promise<() => Promise<void>> => {
      site.file(GATE, '');
      const thaw = site.hold(GATE);
      const asks = () => site.requests.filter((line) => line === `GET ${GATE}`).length;
      const before = asks();
      await page.evaluate(
        ([gate, lag]) => {
          setTimeout(() => {
            const request = new XMLHttpRequest();
            request.open('GET', gate, false);
            request.send();
            (window as unknown as Record<string, number>)[lag] = 120_000;
            document.dispatchEvent(new Event('resume'));
          });
        },
        [GATE, LAG] as const,
      );
      const isAsked = await until(() => asks() > before, { within: ASKS_WITHIN_MS });
      if (!isAsked) throw new Error('The page does not freeze');
      return async () => {
        thaw();
        await page.evaluate(() => undefined);
      };
    },
  };
};

/**
 * Pages that can stand still for two minutes by their clock: stopped with their process where the engine
 * can, or else by a request that holds them.
 */
export const standingStill = ({ browser, site, guest }: Stage): ReturnType<typeof freezing> => {
  const { stopPages } = browser;
  if (!stopPages) return freezing({ site, guest });
  guest.allowGlobals(SEEN, LAG);
  return {
    // It learns from the clock alone that it stood still: no event tells.
    head: `<script>
  var ${LAG} = 0, ${SEEN} = Date.now();
  {
    const { now } = Date;
    Date.now = () => {
      const time = now();
      if (time - ${SEEN} > ${STOOD_MS}) ${LAG} = 120_000;
      ${SEEN} = time;
      return time + ${LAG};
    };
    setInterval(Date.now, 100);
  }
</script>`,
    freeze: async (page: Evaluates) => {
      const goOn = stopPages();
      const stood = pause(STOOD_MS);
      return async () => {
        await stood;
        goOn();
        await page.evaluate(() => undefined);
      };
    },
  };
};
