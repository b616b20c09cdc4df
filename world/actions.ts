import { lengthOf } from '../test/support/local-storage.js';
import type { Disk } from './disk.js';
import type { Storage, Trouble } from './indexed-db.js';
import type { Judge } from './judge.js';
import type { Conditions, Network } from './network.js';
import type { Action, Call, Fault, Scenario } from './scenario.js';
import { BAD, DISLIKED } from './service.js';
import type { Timeline } from './timeline.js';
import type { Device, Visit, Visits } from './visits.js';

/** After a call, the caps hold within this time. */
const CAPS_HOLD_MS = 1_000;
/** No body of the calls is shorter. */
const LEAST_BYTES = 50;
export const WELL: Trouble = { aborts: 0, hangs: false, refuses: false, slow: 0 };

interface World {
  scenario: Scenario;
  timeline: Timeline;
  visits: Visits;
  disk: Disk;
  storage: Storage;
  trouble: Trouble;
  network: Network;
  conditions: Conditions;
  device: Device;
  judge: Judge;
  note: (line: () => string) => void;
}

/** What the actions and faults of a scenario come to. */
export const createActions = (world: World) => {
  const { timeline, visits, disk, storage, trouble, network, conditions, device, judge, note } =
    world;
  const { setup, faults } = world.scenario;
  const { options } = setup;
  const { after } = timeline;
  const knowsRepeats = setup.way !== 'direct';
  let calls = 0;
  let tokens = 0;

  /** Nothing of the page is under way, and what it has heard is written. */
  const isQuiet = ({ page }: Visit): boolean => network.isIdle(page.name) && storage.isIdle(page);

  /** Whether a store takes what it keeps: it has to have opened its database while localStorage is full. */
  const canGo = ({ analytics }: Visit): boolean =>
    device.room === Infinity || analytics.status().storage === 'indexeddb';

  /** Whether its storage names all that the service may have of it. */
  const isNamed = ({ page }: Visit): boolean =>
    knowsRepeats || (!page.isHidden() && !network.hasUnkept(page.name));

  /** Does it as soon as this is so, while the page is there. */
  const when = (visit: Visit, isSo: (visit: Visit) => boolean, act: () => void): void => {
    if (!visits.has(visit)) return;
    if (isSo(visit)) act();
    else after(50, () => when(visit, isSo, act));
  };

  const checkCaps = ({ page, analytics }: Visit) => {
    if (!page.isRunning() || faults.length) return;
    const { waiting } = analytics.status();
    const { maxRecords = Infinity, maxBytes = Infinity } = options;
    if (waiting > maxRecords || waiting * LEAST_BYTES > maxBytes)
      judge.violate('caps', `${page.name} keeps ${waiting} waiting`);
  };

  const call = (visit: Visit, list: readonly Call[]): void => {
    const { page, analytics } = visit;
    page.run(() => {
      for (const { user, isEvent, isBad, isDisliked } of list) {
        const kind = `${isEvent ? 'event' : 'identify'} ${++calls}`;
        const more = isBad ? BAD : isEvent && isDisliked ? DISLIKED : '';
        const name = `${kind} ${more}`.trim();
        if (!isEvent) analytics.identify(user ?? 'ada', { n: name });
        else analytics.event(name, user ? { userId: user } : {});
      }
    });
    after(CAPS_HOLD_MS, () => checkCaps(visit));
  };

  /** The page goes into the back/forward cache, and is back, or is thrown out of it, after a while. */
  const cache = (visit: Visit, { ms, isEvicted }: Extract<Action, { do: 'cache' }>) => {
    const { page } = visit;
    visits.consentAgain(visit);
    visit.isAway = true;
    page.depart(false);
    after(0, page.freeze);
    after(ms + 1, () => {
      if (!visits.has(visit)) return;
      if (isEvicted) return visits.end(visit, () => true);
      visit.isAway = false;
      page.comeBack();
    });
  };

  const freeze = ({ page }: Visit, ms: number) => {
    if (!page.isHidden() || !page.isRunning()) return;
    page.freeze();
    after(ms, page.resume);
  };

  /** What happens to a running page. */
  const actOn = (visit: Visit, action: Action): void => {
    const { page, analytics } = visit;
    switch (action.do) {
      case 'call':
        return call(visit, action.calls);
      case 'leave':
        return when(visit, canGo, () => visits.leave(visit));
      case 'navigate':
        return when(visit, canGo, () => visits.leave(visit, visits.open));
      case 'cache':
        return when(visit, canGo, () => cache(visit, action));
      case 'freeze':
        page.hide();
        return when(
          visit,
          () => !page.isHidden() || isQuiet(visit),
          () => freeze(visit, action.ms),
        );
      case 'hide':
        return page.hide();
      case 'show':
        return page.show();
      case 'kill':
        return when(visit, isNamed, () => {
          if (action.after > 0) return page.dieAfter(action.after);
          visits.kill(visit);
        });
      case 'flush':
        return page.run(() => void analytics.flush());
      case 'reset':
        return page.run(() => analytics.reset());
      case 'pause consent':
        visits.setConsent(visit, 'pending');
        return after(action.ms, () => visits.has(visit) && visits.consentAgain(visit));
      case 'destination':
        return visits.setDestination(visit, visits.isAt(visit, 'a') ? 'b' : 'a');
    }
  };

  return {
    call,
    act: (action: Action): void => {
      const running = visits.running();
      note(() => `· ${JSON.stringify(action)}`);
      switch (action.do) {
        case 'open':
          if (running.length < 4) visits.open();
          return;
        case 'service':
          conditions.service = action.mode;
          return;
        case 'network':
          if (conditions.isOnline === action.isOnline) return;
          conditions.isOnline = action.isOnline;
          if (action.isOnline) visits.all.forEach(visits.online);
          return;
        case 'budget':
          conditions.isBudgetTaken = action.isTaken;
          return;
        case 'token':
          conditions.token = `token-${++tokens}`;
          return;
        case 'kill browser':
          visits.killAll();
          if (action.losesMs > 0) disk.loseRecent(action.losesMs);
          return judge.killed(disk.has);
        default: {
          const visit = running[action.page % running.length];
          return visit && actOn(visit, action);
        }
      }
    },
    /** Something goes wrong with what pages store and know. */
    fail: ({ what, lasts }: Fault): void => {
      note(() => `· ${JSON.stringify(what)} for ${lasts} ms`);
      switch (what.do) {
        case 'storage':
          Object.assign(trouble, what.trouble);
          return after(lasts, () => Object.assign(trouble, WELL));
        case 'full shelf':
          device.room = lengthOf(disk.shelf);
          return after(lasts, () => (device.room = Infinity));
        case 'close storage':
          return visits.all.forEach(({ page }) => storage.closeUnder(page));
        case 'clock':
          device.shift += what.by;
          return;
        case 'clear':
          disk.clear();
          return judge.release();
      }
    },
  };
};
