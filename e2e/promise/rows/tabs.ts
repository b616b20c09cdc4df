import { names } from '../../support/names.js';
import { track } from '../../support/track.js';
import type { Tab } from '../engines/engine.js';
import type { Row } from '../row.js';
import type { Stage } from '../stage.js';
import { standingStill } from '../standing-still.js';
import { trackRefused, TWENTY, waitFor, waitAtRest, waitUntilStored } from '../steps.js';
import { allOnce, onceOrUnknown } from '../verdicts.js';

/** Makes a backlog of these on a page that is gone then. */
const leaveBacklog = async (stage: Stage, events: readonly string[]): Promise<Tab> => {
  const tab = await stage.visit();
  await stage.offline(true);
  await track(tab, events);
  await waitAtRest(tab, events.length);
  await tab.goto('about:blank');
  await stage.offline(false);
  return tab;
};

export const tabRows: readonly Row[] = [
  {
    id: 'two-at-once',
    what: 'two tabs call 20 each at the same time',
    promised: { direct: allOnce, relay: allOnce },
    nightly: ['relay'],
    run: async (stage) => {
      const one = await stage.visit();
      const other = await stage.visit();
      await Promise.all([track(one, names(20, 'one')), track(other, names(20, 'two'))]);
      return [...names(20, 'one'), ...names(20, 'two')];
    },
  },
  {
    id: 'three-share-backlog',
    what: 'three tabs open together on a backlog of 30, and each calls, too',
    promised: { direct: allOnce, relay: allOnce },
    nightly: ['relay'],
    needs: { forgetsPages: true },
    run: async (stage) => {
      await leaveBacklog(stage, names(30));
      const own = names(3, 'own');
      await Promise.all(own.map(async (event) => track(await stage.visit(), [event])));
      return [...names(30), ...own];
    },
  },
  {
    id: 'two-claimers',
    what: 'two frames of a page race for a backlog of 30 in the same task',
    promised: allOnce,
    needs: { forgetsPages: true },
    run: async (stage) => {
      const tab = await leaveBacklog(stage, names(30));
      const frame = stage.page('/frame', stage.tagged());
      const frames = `<iframe src="${frame}?1"></iframe><iframe src="${frame}?2"></iframe>`;
      await tab.goto(
        stage.page('/frames', `<!doctype html><html><head></head><body>${frames}</body></html>`),
      );
      return names(30);
    },
  },
  {
    id: 'closed-beside',
    what: 'a tab with records in a penalty is closed while another lives on; a third opens',
    promised: allOnce,
    nightly: true,
    run: async (stage) => {
      const tab = await stage.visitPopup();
      const other = await stage.visit();
      await trackRefused(stage, tab, TWENTY);
      await tab.leave(() => window.close(), undefined);
      await waitFor('the closing of the tab', () => tab.isClosed());
      await track(other, ['of the other']);
      await stage.visit();
      return [...TWENTY, 'of the other'];
    },
  },
  {
    id: 'frozen',
    what: 'a tab stands still past the time of its parcels, another takes over, the first goes on',
    promised: allOnce,
    needs: { durable: true, apart: true },
    run: async (stage) => {
      const frozen = standingStill(stage);
      const tab = await stage.visit({}, { head: frozen.head });
      await trackRefused(stage, tab, TWENTY);
      // A transaction that stands still with it would hold up all pages.
      await waitUntilStored(tab, 20);
      const thaw = await frozen.freeze(tab);
      try {
        await stage.nextVisit();
        await waitFor('the takeover', async () => (await stage.service.events()).length === 20);
      } finally {
        await thaw();
      }
      await track(tab, ['after the thaw']);
      return [...TWENTY, 'after the thaw'];
    },
  },
  {
    id: 'crash-in-claim',
    what: 'a page that has taken over a backlog of 30 is killed while it sends; a third page opens',
    promised: onceOrUnknown,
    needs: { durable: true, forgetsPages: true },
    run: async (stage) => {
      await leaveBacklog(stage, names(30));
      await stage.service.faults([{ skip: 7, delay: 100 }]);
      await stage.visit();
      await waitFor('the first ten', async () => (await stage.asked()) >= 10);
      await stage.browser.crashPages();
      await stage.service.faults([]);
      await stage.nextVisit();
      return names(30);
    },
  },
];
