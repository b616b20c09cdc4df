import type { Evaluates } from './evaluates.js';
import type { Guest } from './guest.js';
import type { Site } from './site.js';
import { until } from './until.js';

const CLOCK = 'clockOfFrozen';
const LAG = 'lagOfFrozen';
const GATE = '/thaw';
const ASKS_WITHIN_MS = 10_000;

/**
 * Pages that can stand still for two minutes, as a tab does that the browser froze: options and head for
 * `site.tagged`, and the function that freezes such a page.
 *
 * A synchronous request holds the whole page, which no browser lets a test do otherwise: what DevTools
 * freezes must be hidden, and Playwright keeps every page visible.
 */
export const freezing = (site: Pick<Site, 'file' | 'hold' | 'requests'>, guest: Guest) => {
  guest.allowGlobals(CLOCK, LAG);
  guest.allow(/Synchronous XMLHttpRequest/);
  return {
    options: { now: CLOCK },
    head: `<script>
  var ${LAG} = 0;
  function ${CLOCK}() { return Date.now() + ${LAG}; }
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
