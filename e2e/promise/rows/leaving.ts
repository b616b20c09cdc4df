import { setTimeout as pause } from 'node:timers/promises';
import { inline } from '../../support/html.js';
import { names } from '../../support/names.js';
import { statusOf } from '../../support/status-of.js';
import { track } from '../../support/track.js';
import type { Tab } from '../engines/engine.js';
import type { Row } from '../row.js';
import type { Stage } from '../stage.js';
import {
  TWENTY,
  trackAndClose,
  trackAndGo,
  waitFor,
  waitForHandoff,
  waitForPage,
} from '../steps.js';
import { allOnce, onceOrUnknown, unknown } from '../verdicts.js';

/** By then a page that no protocol drives asks again: WebKit ends that request, too, as a download begins. */
const AGAIN_MS = 1_500;

/** Five pages one after another take Firefox 20 s. */
const SLOW_MS = 60_000;

/** A page that acts before it has loaded: it calls and leaves for `/left` once its global has this. */
const leavingPage = (stage: Stage, body: string, has = 'Symbol(analytics-outbox)'): string => {
  const run = (has: string, events: readonly string[], address: string): void => {
    const look = setInterval(() => {
      if (!Reflect.ownKeys(analytics).some((key) => String(key) === has)) return;
      clearInterval(look);
      for (const event of events) analytics.event(event);
      location.href = address;
    }, 20);
  };
  // The developers' file has not come as the page is left. What Firefox tells its driver of that is one word.
  stage.guest.allow(/^console\.error: Error at .+\/leaving$/);
  const given = [has, TWENTY, stage.bare('/left')].map((value) => JSON.stringify(value));
  const script = `<script>(${String(run)})(${given.join()})</script>`;
  return stage.page('/leaving', stage.tagged({}, { body: body + script }));
};

/** Opens a tab at a page that leaves by itself, and waits for where it goes. */
const passThrough = async (stage: Stage, address: string): Promise<Tab> => {
  const tab = await stage.newTab(stage.bare());
  await tab.leave((address) => void (location.href = address), address);
  await waitForPage(tab, stage.bare('/left'));
  return tab;
};

/** Has the site offer a file at `/file/`, which browsers download. */
const offerFile = ({ site }: Stage): void =>
  site.handle('/file/', (_, response) => {
    response.setHeader('content-disposition', 'attachment; filename=file.bin');
    response.end('file');
  });

const waitForDownload = ({ site }: Stage): Promise<void> =>
  waitFor('the download', () => site.requests.some((line) => line.includes('/file/')));

/** Leaves so, and what was called then has arrived before another page comes. */
const handedOff = (row: Omit<Row, 'run'>, leave: (stage: Stage) => Promise<unknown>): Row => ({
  ...row,
  run: async (stage) => {
    await leave(stage);
    await waitForHandoff(stage, 20);
    await stage.visit();
    return TWENTY;
  },
});

/** An image that never comes keeps the page from its `load` event. */
const leaveBeforeLoad = (stage: Stage): Promise<Tab> => {
  stage.site.hold('/never.png');
  return passThrough(stage, leavingPage(stage, '<img src="/never.png" alt="">'));
};

/** Lets a page hear as little as in WebKit, where one that is left before its `load` event gets `beforeunload` alone. */
const hearNothingBeforeLoad = (): void => {
  const hear = (event: Event) => {
    if (document.readyState !== 'complete') event.stopImmediatePropagation();
  };
  for (const type of ['pagehide', 'visibilitychange']) addEventListener(type, hear, true);
};

/** Lets a page hear nothing of a navigation, as in Safari on iOS, which has no `beforeunload` either. */
const hearNothing = (): void => {
  addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), true);
};

/**
 * Opens five pages of the site, one after another, which stay before their `load` event, since their images never come.
 * Each calls twice, again some time later, and follows a link in the same task: the last one to another site.
 */
const passSlowPages = async (stage: Stage): Promise<void> => {
  const { site } = stage;
  site.handle('/hangs/', () => undefined);
  stage.guest.allow(/^console\.error: Error at .+\/slow-\d$/); // as in `leavingPage`
  const run = (events: readonly string[]): void => {
    const call = (events: readonly string[]) => events.forEach((event) => analytics.event(event));
    const look = setInterval(() => {
      if (!Reflect.ownKeys(analytics).some((key) => String(key) === 'Symbol(analytics-outbox)'))
        return;
      clearInterval(look);
      call(events.slice(0, 2));
      setTimeout(() => {
        call(events.slice(2));
        document.querySelector('a')!.click();
      }, 300);
    }, 20);
  };
  const end = `${site.otherUrl}/bare`;
  const addressOf = (i: number) => (i < 5 ? `${site.url}/slow-${i}` : end);
  for (let i = 0; i < 5; i++) {
    const images = names(4, `/hangs/${i}`).map((path) => `<img src="${path}" alt="">`);
    const link = `<a href="${addressOf(i + 1)}">on</a>`;
    const events = JSON.stringify(TWENTY.slice(4 * i, 4 * i + 4));
    const body = `${images.join('')}${link}<script>(${String(run)})(${events})</script>`;
    // A call waits for longer than its page lives, unless it is sent at once.
    stage.page(`/slow-${i}`, stage.tagged({ flushInterval: 10_000 }, { body }));
  }
  const tab = await stage.newTab(stage.bare());
  await tab.leave((address) => void (location.href = address), addressOf(0));
  await waitForPage(tab, end, SLOW_MS);
  // In WebKit, too: nothing was started as late as in `pagehide`.
  const arrived = async () => (await stage.service.events()).length >= 20;
  await waitFor('all that the slow pages have called', arrived);
};

/** Code of a page that calls as it is left. */
const callsAsItGoes = (when: string): string =>
  `addEventListener('pagehide', () => analytics.event('${when}, pagehide'));
  document.addEventListener('visibilitychange', () =>
    analytics.event('${when}, ' + document.visibilityState));`;

const DIRECT_AND_RELAY = { direct: allOnce, relay: allOnce };
const EACH_WAY = { ...DIRECT_AND_RELAY, key: allOnce };

export const leavingRows: readonly Row[] = [
  handedOff(
    {
      id: 'navigate',
      what: '20 calls, then to another page, in the same task',
      promised: EACH_WAY,
      isSmoke: true,
      nightly: ['key'],
    },
    async (stage) => trackAndGo(await stage.visit(), TWENTY, stage.bare()),
  ),
  handedOff(
    {
      id: 'cross-site',
      what: '20 calls, then to another site, in the same task',
      promised: allOnce,
      isSmoke: true,
    },
    async (stage) => trackAndGo(await stage.visit(), TWENTY, `${stage.site.otherUrl}/bare`),
  ),
  handedOff(
    {
      id: 'close',
      what: '20 calls, then the tab closes, in the same task',
      promised: EACH_WAY,
      isSmoke: true,
      nightly: ['key'],
    },
    async (stage) => trackAndClose(await stage.visitPopup(), TWENTY),
  ),
  handedOff(
    {
      id: 'left-before-load',
      what: '20 calls, then to another page, in the same task, before the `load` event',
      promised: DIRECT_AND_RELAY,
      nightly: ['relay'],
      isSmoke: true,
    },
    leaveBeforeLoad,
  ),
  handedOff(
    {
      id: 'left-unheard',
      what: 'the same, and as in WebKit only `beforeunload` tells',
      promised: DIRECT_AND_RELAY,
      nightly: ['relay'],
    },
    (stage) => {
      stage.arm(hearNothingBeforeLoad);
      return leaveBeforeLoad(stage);
    },
  ),
  handedOff(
    {
      id: 'left-slowly',
      what: 'five pages that never finish loading, one after another, are left by a link, the last for another site, with 4 calls each',
      promised: DIRECT_AND_RELAY,
      nightly: true,
      needs: { forgetsPages: true }, // a page in the cache keeps its connections, and Chromium has six
    },
    passSlowPages,
  ),
  handedOff(
    {
      id: 'left-slowly-unheard',
      what: 'the same, and as in Safari on iOS not even `beforeunload` tells',
      promised: DIRECT_AND_RELAY,
      nightly: true,
      needs: { forgetsPages: true },
    },
    async (stage) => {
      stage.arm(hearNothingBeforeLoad);
      stage.arm(hearNothing);
      await passSlowPages(stage);
    },
  ),
  {
    id: 'own-listeners',
    what: 'an identify between two events, then to another page, in the same task; the page calls in listeners of its own, before ours and after them',
    promised: DIRECT_AND_RELAY,
    run: async (stage) => {
      const late = `addEventListener('load', () => { ${callsAsItGoes('late')} });`;
      const style = { head: inline(callsAsItGoes('early')), body: inline(late) };
      const tab = await stage.visit({}, style);
      await tab.leave((address) => {
        analytics.event('before');
        analytics.identify('user_1', { plan: 'pro' });
        analytics.event('after');
        location.href = address;
      }, stage.bare());
      await waitForPage(tab, stage.bare());
      const last = ['early, pagehide', 'late, pagehide', 'early, hidden', 'late, hidden'];
      await waitForHandoff(stage, 6);
      await stage.visit();
      return ['before', 'identify user_1', 'after', ...last];
    },
  },
  {
    id: 'left-before-script',
    what: '20 calls of the stub, then to another page, in the same task, before the script has come',
    promised: allOnce,
    nightly: true,
    run: async (stage) => {
      const address = leavingPage(stage, '', 'calls');
      const release = stage.site.hold('/dist/outbox.js');
      const tab = await passThrough(stage, address);
      release();
      await tab.goto(stage.page('/last', stage.tagged()));
      return TWENTY;
    },
  },
  {
    id: 'download-in-flight',
    what: '3 requests, stored at once and answered after 2 s, are in flight as a download begins; then one more call',
    promised: onceOrUnknown,
    quietFor: 3_000,
    nightly: true,
    run: async (stage) => {
      const { service } = stage;
      offerFile(stage);
      const tab = await stage.visit();
      await service.faults([{ after: true, delay: 2_000, times: 3 }]);
      await track(tab, names(3));
      await waitFor('the requests', async () => (await service.requests()).length === 3);
      await tab.leave(() => void (location.href = '/file/'), undefined);
      await waitForDownload(stage);
      await pause(AGAIN_MS);
      await track(tab, ['after']);
      return [...names(3), 'after'];
    },
  },
  {
    id: 'download-unheard',
    what: '5 records, stored at once and answered after 2 s, are in flight as a link begins a download, without `beforeunload`, as in Safari on iOS; then one more call',
    promised: { direct: onceOrUnknown, relay: allOnce },
    quietFor: 3_000,
    nightly: true,
    run: async (stage) => {
      const { service } = stage;
      offerFile(stage);
      stage.arm(hearNothing);
      const tab = await stage.visit({ timeout: 12_000 }, { body: '<a href="/file/">file</a>' });
      await stage.faults([{ after: true, delay: 2_000, times: 5 }]);
      await track(tab, names(5));
      await waitFor('the requests', async () => (await service.events()).length === 5);
      await tab.leave(() => document.querySelector('a')!.click(), undefined);
      await waitForDownload(stage);
      await pause(AGAIN_MS);
      await track(tab, ['after']);
      // By relay, which has one request at a time: sooner than the one in flight has run out of time.
      const arrived = async () => (await service.events()).some(({ event }) => event === 'after');
      await waitFor('the call after it', arrived, 9_000);
      await waitFor('the end of all requests', async () => (await statusOf(tab)).inFlight === 0);
      return [...names(5), 'after'];
    },
  },
  {
    id: 'broken-off',
    what: '5 events of 20 KB, of which 3 are beyond the budget, are in flight and unanswered as the page calls once more and is left for one that answers late',
    promised: unknown(2),
    nightly: true,
    run: async (stage) => {
      const { service, site } = stage;
      const tab = await stage.visit();
      await service.faults([{ hang: true, times: 5 }]);
      await tab.evaluate((events) => {
        for (const event of events) analytics.event(event, { text: 'x'.repeat(20_000) });
      }, names(5));
      await waitFor('the requests', async () => (await service.requests()).length === 5);
      const address = stage.bare('/left');
      const release = site.hold('/left');
      await tab.leave((address) => {
        analytics.event('after');
        location.href = address;
      }, address);
      await pause(AGAIN_MS); // WebKit breaks them off long before the page hears that it is left
      release();
      await waitForPage(tab, address);
      const arrived = async () => (await service.events()).some(({ event }) => event === 'after');
      await waitFor('the last call', arrived);
      await stage.visit();
      return [...names(5), 'after'];
    },
  },
  {
    id: 'beyond-budget',
    what: '100 events of 1 KB, then the tab closes, in the same task',
    promised: DIRECT_AND_RELAY,
    nightly: ['relay'],
    run: async (stage) => {
      const tab = await stage.visitPopup();
      const events = names(100);
      await tab.leave((events) => {
        for (const event of events) analytics.event(event, { description: 'x'.repeat(900) });
        window.close();
      }, events);
      await waitFor('the closing of the tab', () => tab.isClosed());
      // As much as the budget of the browser carries.
      await waitForHandoff(stage, 20);
      await stage.visit();
      return events;
    },
  },
  {
    id: 'beyond-number',
    what: '300 small events, then to another page, in the same task',
    promised: allOnce,
    nightly: true,
    run: async (stage) => {
      const tab = await stage.visit({ flushAt: 1_000, flushInterval: 60_000 });
      await trackAndGo(tab, names(300), stage.bare());
      await stage.visit();
      return names(300);
    },
  },
  {
    id: 'late-answer',
    what: 'stored at once, but answered after 2 s; the page is left at once',
    promised: EACH_WAY,
    nightly: true,
    quietFor: 3_000,
    run: async (stage) => {
      const tab = await stage.visit();
      await stage.faults([{ after: true, delay: 2_000, times: 5 }]);
      await trackAndGo(tab, names(5), stage.bare());
      await stage.visit();
      return names(5);
    },
  },
  {
    id: 'close-in-flight',
    what: '3 requests, stored at once and answered after 2 s, are in flight as the tab closes itself',
    promised: onceOrUnknown,
    quietFor: 3_000,
    nightly: true,
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
    what: 'the requests of a leaving page reach a service that neither stores nor answers them',
    promised: unknown(20),
    run: async (stage) => {
      const tab = await stage.visit();
      await stage.faults([{ hang: true, times: 20 }]);
      await trackAndGo(tab, TWENTY, stage.bare());
      await waitFor('the requests', async () => (await stage.asked()) > 0);
      await stage.visit();
      return TWENTY;
    },
  },
];
