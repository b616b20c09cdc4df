import { nameOf } from './disk.js';
import type { Action, Setup } from './scenario.js';
import type { Visits } from './visits.js';
import type { Visit, World } from './world.js';

/** A page that has waited so long for its storage sends without it. */
const NAMED_WITHIN_MS = 100;
/** After a call, the caps hold within this time, unless storage is slow. */
const CAPS_HOLD_MS = 1_000;
/** No body of the simulated calls is shorter. */
const LEAST_BYTES = 50;

/** Things that happen to one running page. */
const PAGE_ACTIONS = [
  'call',
  'leave',
  'navigate',
  'cache',
  'kill',
  'freeze',
  'hide',
  'show',
  'close storage',
  'flush',
  'reset',
  'consent',
  'destination',
] as const;

type PageAction = Extract<Action, { do: (typeof PAGE_ACTIONS)[number] }>;
type StorageAction = Extract<Action, { do: 'storage' }>;

const isPageAction = (action: Action): action is PageAction =>
  (PAGE_ACTIONS as readonly string[]).includes(action.do);

/** Lets the actions of a scenario happen. */
export const createActor = (world: World, pages: Visits, { hasNoShelf, options }: Setup) => {
  const { timeline, now, dice, note, violate, state, visits, trouble, conditions } = world;
  const { faults, disk, storage, penalties } = world;
  let tokens = 0;

  /** Requests in flight cannot be dropped, so the cap holds a moment later. */
  const checkCap = ({ page, analytics }: Visit) => {
    if (page.state() !== 'running' || world.isTroubled()) return;
    if (now() - state.lastSlow < CAPS_HOLD_MS) return;
    const { waiting } = analytics.status();
    const { maxRecords = Infinity, maxBytes = Infinity } = options;
    if (waiting > maxRecords || waiting * LEAST_BYTES > maxBytes) {
      violate('caps', `${page.name} keeps ${waiting} waiting`);
    }
  };

  const troubleStorage = ({ trouble: kind }: StorageAction) => {
    world.endTrouble();
    Object.assign(trouble, {
      aborts: kind === 'aborts' ? dice.between(1, 4) : 0,
      hangs: kind === 'hangs',
      refuses: kind === 'refuses',
      slow: kind === 'slow' ? dice.pick([20, 300, 900]) : 0,
    });
    const { aborts, hangs, refuses, slow } = trouble;
    if (aborts > 0 || hangs || refuses || slow >= NAMED_WITHIN_MS) faults.begin('database');
  };

  const fillShelf = (isFull: boolean) => {
    state.isShelfFull = isFull;
    if (hasNoShelf) return;
    faults.end('localStorage');
    if (isFull) faults.begin('localStorage');
  };

  const clearStorage = () => {
    faults.happen('clearing');
    state.isDenied = false;
    disk.clear();
  };

  /** A value that another version of the code may have left. */
  const putForeignRecord = (): void => {
    const [name] = disk.names();
    if (!name) return;
    // Transactions do not see each other's work.
    if (storage.isBusy(name)) return timeline.after(1, putForeignRecord);
    const key = [0, 'stranger', 1] as const;
    const text = JSON.stringify({ v: 9, holder: 'stranger' });
    const slot = { key, text, ids: [] };
    disk.commit(name, new Map([[nameOf(key), slot]]), { page: '', by: 'user' });
  };

  const killBrowser = (losesMs: number) => {
    for (const visit of [...visits]) {
      visit.page.die();
      pages.end(visit, 'killed');
    }
    faults.happen(losesMs > 0 ? 'crash' : 'kill');
    if (losesMs === 0) return;
    disk.loseRecent(losesMs);
    state.isDenied = false;
  };

  const bringBack = (cached: Visit | undefined, isEvicted: boolean) => {
    if (!cached) return;
    cached.isCached = false;
    if (isEvicted) return pages.end(cached, 'left', () => true);
    pages.goOn(cached);
    cached.page.comeBack();
  };

  const thaw = (frozen: Visit | undefined) => {
    if (!frozen) return;
    frozen.isFrozen = false;
    pages.goOn(frozen);
    frozen.page.resume();
  };

  const freeze = (visit: Visit) => {
    visit.page.hide();
    visit.isFrozen = true;
    timeline.after(dice.between(0, 500), () => {
      world.paused(visit.page.name, false);
      visit.page.freeze();
    });
  };

  const cache = (visit: Visit) => {
    visit.isCached = true;
    visit.isFrozen = false;
    visit.page.depart(false);
    world.paused(visit.page.name, true);
    timeline.after(0, () => visit.page.freeze());
  };

  const changeDestination = (visit: Visit) => {
    penalties.configured(visit.page.name);
    pages.setDestination(visit, pages.isAt(visit, 'a') ? 'b' : 'a');
    // What is known of consent may have been cleared with the site's data.
    if (!state.isDenied) visit.consent = visit.analytics.status().consent;
  };

  const actOnPage = (action: PageAction, visit: Visit): void => {
    const { page, analytics } = visit;
    switch (action.do) {
      case 'call':
        page.run(() => {
          for (const { type, name, user } of action.calls) {
            if (type === 'identify') analytics.identify(user!, { n: name });
            else analytics.event(name, user ? { userId: user } : {});
          }
        });
        return timeline.after(CAPS_HOLD_MS, () => checkCap(visit));
      case 'leave':
        return pages.leave(visit);
      case 'navigate':
        return pages.leave(visit, pages.open);
      case 'cache':
        return cache(visit);
      case 'kill':
        if (action.after > 0) return page.dieAfter(action.after);
        page.die();
        return pages.kill(visit);
      case 'freeze':
        return freeze(visit);
      case 'hide':
        return page.hide();
      case 'show':
        return visit.isCached ? undefined : page.show();
      case 'close storage':
        faults.happen('database', page.name);
        return storage.closeUnder(page);
      case 'flush':
        return page.run(() => void analytics.flush());
      case 'reset':
        return page.run(() => analytics.reset());
      case 'consent':
        return pages.setConsent(visit, action.consent);
      case 'destination':
        return changeDestination(visit);
    }
  };

  return (action: Action): void => {
    const alive = visits.filter(({ page }) => page.state() === 'running' && !page.isDoomed());
    const of = (list: Visit[]) => ('page' in action ? list[action.page % list.length] : undefined);
    const visit = of(alive);
    note(`· ${JSON.stringify({ ...action, at: undefined, page: visit?.page.name })}`);
    if (isPageAction(action)) {
      if (visit) actOnPage(action, visit);
      return;
    }
    switch (action.do) {
      case 'open':
        if (alive.length < 4) pages.open();
        return;
      case 'service':
        conditions.service = action.mode;
        return;
      case 'network':
        if (conditions.isOnline === action.isOnline) return;
        conditions.isOnline = action.isOnline;
        if (action.isOnline) visits.forEach(pages.online);
        return;
      case 'budget':
        conditions.isBudgetTaken = action.isTaken;
        return;
      case 'token':
        conditions.token = `token-${++tokens}`;
        return;
      case 'storage':
        return troubleStorage(action);
      case 'shelf':
        return fillShelf(action.isFull);
      case 'clear storage':
        return clearStorage();
      case 'foreign record':
        return putForeignRecord();
      case 'clock':
        faults.happen('clock');
        state.shift += action.by;
        return;
      case 'kill browser':
        return killBrowser(action.loses);
      case 'return':
      case 'evict':
        return bringBack(of(visits.filter(({ isCached }) => isCached)), action.do === 'evict');
      case 'thaw':
        return thaw(of(visits.filter(({ isFrozen }) => isFrozen)));
    }
  };
};
