import { setTimeout as pause } from 'node:timers/promises';
import type { Evaluates } from '../support/evaluates.js';
import { freezing } from '../support/freeze.js';
import type { Stage } from './stage.js';

const CLOCK = 'clockOfStopped';
const SEEN = 'seenByClock';
const LAG = 'lagOfClock';
/** No timer is as late as this in a page that runs. */
const STOOD_MS = 3_000;

/**
 * Pages that can stand still for two minutes by their clock: stopped with their process where the engine
 * can, or else by a request that holds them.
 */
export const standingStill = ({ browser, site, guest }: Stage): ReturnType<typeof freezing> => {
  const { stopPages } = browser;
  if (!stopPages) return freezing(site, guest);
  guest.allowGlobals(CLOCK, SEEN, LAG);
  return {
    options: { now: CLOCK },
    // It learns from the clock alone that it stood still: no event tells.
    head: `<script>
  var ${LAG} = 0, ${SEEN} = Date.now();
  function ${CLOCK}() {
    var now = Date.now();
    if (now - ${SEEN} > ${STOOD_MS}) ${LAG} = 120000;
    ${SEEN} = now;
    return now + ${LAG};
  }
  setInterval(${CLOCK}, 100);
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
