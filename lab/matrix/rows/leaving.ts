import { names } from '../../../e2e/support/names.js';
import { track } from '../../../e2e/support/track.js';
import { MANY_RUNS, type Row } from '../row.js';
import { statusOf, TWENTY, trackAndClose, trackAndGo, waitFor, waitAtRest } from '../steps.js';
import { allOnce, onceOrUnknown } from '../verdicts.js';

const group = 'Leaving the page';

export const leavingRows: readonly Row[] = [
  {
    id: 'navigate',
    group,
    what: '20 calls, then to another page, in the same task',
    promised: allOnce,
    runs: MANY_RUNS,
    run: async (stage) => {
      const tab = await stage.visit();
      await trackAndGo(tab, TWENTY, stage.bare());
      await stage.visit();
      return TWENTY;
    },
  },
  {
    id: 'cross-site',
    group,
    what: '20 calls, then to another site, in the same task',
    promised: allOnce,
    runs: MANY_RUNS,
    run: async (stage) => {
      const tab = await stage.visit();
      stage.bare();
      await trackAndGo(tab, TWENTY, `${stage.site.otherUrl}/bare`);
      await stage.visit();
      return TWENTY;
    },
  },
  {
    id: 'close',
    group,
    what: '20 calls, then the tab closes, in the same task',
    promised: allOnce,
    runs: MANY_RUNS,
    run: async (stage) => {
      const tab = await stage.visitPopup();
      await trackAndClose(tab, TWENTY);
      await stage.visit();
      return TWENTY;
    },
  },
  {
    id: 'beyond-budget',
    group,
    what: '200 events of 1 KB, then the tab closes, in the same task',
    promised: allOnce,
    runs: MANY_RUNS,
    run: async (stage) => {
      const tab = await stage.visitPopup();
      const events = names(200);
      await tab.leave((events) => {
        for (const event of events) analytics.event(event, { description: 'x'.repeat(900) });
        window.close();
      }, events);
      await waitFor('the closing of the tab', () => tab.isClosed());
      await stage.visit();
      return events;
    },
  },
  {
    id: 'leave-offline',
    group,
    what: 'offline as the page is left; online for the next page',
    promised: allOnce,
    needs: { forgetsPages: true },
    run: async (stage) => {
      const tab = await stage.visit();
      await stage.offline(true);
      await track(tab, TWENTY);
      await waitAtRest(tab, 20);
      await tab.goto('about:blank');
      await stage.offline(false);
      await stage.visit();
      return TWENTY;
    },
  },
  {
    id: 'leave-failing',
    group,
    what: 'the service is known to fail (503, `Retry-After: 2`) as the page is left',
    promised: allOnce,
    run: async (stage) => {
      const tab = await stage.visit();
      await stage.service.faults([{ status: 503, headers: { 'retry-after': '2' }, times: 1 }]);
      await track(tab, ['first']);
      await waitFor('a penalty', async () => (await statusOf(tab)).paused === 'backoff');
      await trackAndGo(tab, TWENTY, stage.bare());
      await stage.visit();
      return ['first', ...TWENTY];
    },
  },
  {
    id: 'slow-answer',
    group,
    what: 'the service answers after 2 s, and the page is left at once',
    promised: allOnce,
    runs: MANY_RUNS,
    quietFor: 3_000,
    run: async (stage) => {
      const tab = await stage.visit();
      await stage.service.faults([{ delay: 2_000 }]);
      await trackAndGo(tab, TWENTY, stage.bare());
      await stage.visit();
      return TWENTY;
    },
  },
  {
    id: 'slow-answer-key',
    group,
    what: 'stored at once, but answered after 4 s; the page is left at once; `idempotencyKey`',
    promised: allOnce,
    quietFor: 3_000,
    run: async (stage) => {
      const options = { idempotencyKey: true };
      const tab = await stage.visit(options);
      await stage.service.faults([{ after: true, delay: 4_000, times: 20 }]);
      await trackAndGo(tab, TWENTY, stage.bare());
      await stage.visit(options);
      return TWENTY;
    },
  },
  {
    id: 'close-in-flight',
    group,
    what: '3 requests, stored at once and answered after 2 s, are in flight as the tab closes itself',
    promised: onceOrUnknown,
    quietFor: 3_000,
    run: async (stage) => {
      const tab = await stage.visitPopup();
      await stage.service.faults([{ after: true, delay: 2_000 }]);
      // Fewer than the connections of a browser: what is sent again finds one that is free.
      await track(tab, names(3));
      await waitFor('the requests', async () => (await stage.service.requests()).length === 3);
      await tab.leave(() => window.close(), undefined);
      await waitFor('the closing of the tab', () => tab.isClosed());
      await stage.visit();
      return names(3);
    },
  },
  {
    id: 'never-stored',
    group,
    what: 'the requests of a leaving page reach a service that neither stores nor answers them',
    promised: onceOrUnknown,
    run: async (stage) => {
      const tab = await stage.visit();
      await stage.service.faults([{ hang: true, times: 20 }]);
      await trackAndGo(tab, TWENTY, stage.bare());
      await waitFor('the requests', async () => (await stage.service.requests()).length > 0);
      await stage.visit();
      return TWENTY;
    },
  },
];
