import { createDice } from './dice.js';
import { createDisk } from './disk.js';
import { createStorage, type Trouble } from './indexed-db.js';
import { createJudge, type Promised } from './judge.js';
import { createNetwork, nameOfBody, type Conditions } from './network.js';
import { createPage, type Page } from './page.js';
import { lengthOf } from '../test/support/local-storage.js';
import type { Analytics, Consent } from '../src/client/types.js';
import type { Action, Fault, Scenario } from './scenario.js';
import { BAD } from './service.js';
import { createTimeline } from './timeline.js';

const EPOCH = Date.UTC(2026, 0, 1);
/** As long as anything may take once all is well: the longest waits, and leases. */
const PATIENCE_MS = 4 * 3_600_000;
/** More than any world of this size needs. */
const MOST_STEPS = 500_000;
/** After a call, the caps hold within this time. */
const CAPS_HOLD_MS = 1_000;
/** No body of the calls is shorter. */
const LEAST_BYTES = 50;
/** Timers of a hidden page are this late, so what it has heard is written within this time. */
const QUIET_MS = 2_200;
const WELL: Trouble = { aborts: 0, hangs: false, refuses: false, slow: 0 };

/** A page that has not ended. */
interface Visit {
  page: Page;
  analytics: Analytics;
  destination: string;
  /** What its page was told last. */
  consent: Consent;
  /** It is being left, or is in the back/forward cache. */
  isAway: boolean;
  /** When it was last called, or heard an outcome. */
  busyAt: number;
  /** When it last sent a request that no storage has named: without keepalive, or while it was hidden. */
  riskedAt: number;
  /** Keys of localStorage that it has written since it began to go away, and what stood there before. */
  written: Map<string, string | undefined>;
}

/** Lets a scenario happen to the real client, and watches. Fails at the first promise that does not hold. Resolves with a
 * function that tells what happened. */
export const runWorld = async (scenario: Scenario, promised: Promised): Promise<() => string[]> => {
  const { seed, setup, actions, faults, ending } = scenario;
  const { engine, way, options } = setup;
  const timeline = createTimeline();
  const { now, after } = timeline;
  const dice = createDice(seed, 0);
  const notes: [at: number, line: () => string][] = [];
  const visits: Visit[] = [];
  let broken: [invariant: string, message: string] | undefined;
  let pages = 0;
  let calls = 0;
  let tokens = 0;
  /** How far the clock of the device is from the truth. */
  let shift = 0;
  let room = Infinity;
  /** Consent was denied, by this page. */
  let denier: string | undefined;

  const note = (line: () => string) => void notes.push([now(), line]);
  const violate = (invariant: string, message: string) => void (broken ??= [invariant, message]);
  const trouble: Trouble = { ...WELL };
  const conditions: Conditions = {
    service: 'well',
    isOnline: true,
    isBudgetTaken: false,
    token: 'token-0',
  };
  const clock = () => EPOCH + Math.floor(now()) + shift;
  const visitOf = (name: string) => visits.find(({ page }) => page.name === name);

  const knowsRepeats = way !== 'direct';
  const judge = createJudge(promised, knowsRepeats, now, violate);
  judge.limitAge(options['maxAge'] ?? Infinity);
  const disk = createDisk(now);
  const storage = createStorage({
    timeline,
    disk,
    dice: createDice(seed, 1),
    trouble,
    onPut: (name, ids) => {
      const consent = visitOf(name)?.consent;
      if (consent && consent !== 'granted' && ids.some((id) => !disk.has(id)))
        violate('consent', `${name} stores records, and consent is ${consent}`);
    },
  });
  const network = createNetwork({
    timeline,
    dice: createDice(seed, 2),
    conditions,
    saysLate: engine === 'chromium',
    knowsRepeats,
    judge,
    onStart: ({ user: { name }, destination, ids, keepalive }) => {
      note(() => `${name} → ${ids.join(', ')}${keepalive ? '' : ' (not kept)'}`);
      const visit = visitOf(name);
      if (visit && visit.consent !== 'granted')
        violate('consent', `${name} sends, and consent is ${visit.consent}`);
      judge.started(name, destination, ids, !!visit?.page.isHidden());
    },
  });

  // Pages.

  const address = (letter: 'a' | 'b') => `https://${letter}.test${way === 'relay' ? '/a' : ''}`;
  const optionsFor = (destination: string) => ({
    ...(way === 'relay'
      ? { relay: destination }
      : {
          baseUrl: destination,
          idempotencyKey: way === 'keyed',
          token: async () => (dice.chance(0.85) ? conditions.token : 'token-old'),
        }),
    project: 'p',
    channel: 'c',
    ...options,
  });

  const listen = (visit: Visit) => {
    const { page, analytics } = visit;
    const { name } = page;
    const onUnlessDead: Analytics['on'] = (type, listener) =>
      analytics.on(type, (payload) => {
        if (!page.isDead()) listener(payload);
      });
    onUnlessDead('record', ({ id, type, body, user }) => {
      const { destination } = visit;
      const isStorable = analytics.status().consent === 'granted';
      const called = nameOfBody(JSON.parse(body) as object);
      note(() => `${name}: ${id} is ${called}`);
      judge.made({ id, name: called, type, user, destination, page: name }, isStorable);
    });
    onUnlessDead('sent', ({ record, handoff }) => judge.sent(record.id, handoff));
    onUnlessDead('outcome', ({ record, outcome, status }) => {
      note(() => `${name}: ${record.id} is ${outcome} ${status ?? ''}`);
      visit.busyAt = now();
      judge.outcome(name, record.id, outcome);
    });
    onUnlessDead('drop', ({ record, reason }) => {
      note(() => `${name}: ${record?.id ?? 'a call'} is dropped, ${reason}`);
      if (record) judge.dropped(name, record.id, reason);
    });
    onUnlessDead('storage', ({ storage: kind }) => note(() => `${name}: storage is ${kind}`));
  };

  const open = (): Visit => {
    const name = `page ${++pages}`;
    const page: Page = createPage({
      name,
      timeline,
      disk,
      storage,
      network,
      dice: createDice(seed, 10 + pages),
      clock,
      isOnline: () => conditions.isOnline,
      room: () => room,
      hasIdleCallback: setup.hasIdleCallback,
      onThrow: (error) => violate('host', `${name}: ${String((error as Error).stack ?? error)}`),
      onShelf: (key, before) => {
        if (!visit.written.has(key)) visit.written.set(key, before);
        for (const other of visits) if (other !== visit) other.page.hearOf(key);
      },
      onRisk: () => {
        visit.riskedAt = now();
        if (!knowsRepeats && !page.isDead() && !page.isRunning() && !page.isFrozen())
          page.dieAfter(0);
      },
      onDeath: () => after(0, () => kill(visit)),
    });
    const visit: Visit = {
      page,
      analytics: page.createAnalytics(),
      destination: address('a'),
      consent: 'granted',
      isAway: false,
      busyAt: now(),
      riskedAt: -Infinity,
      written: new Map(),
    };
    visits.push(visit);
    listen(visit);
    note(() => `${name} opens`);
    page.run(() => visit.analytics.init(optionsFor(visit.destination)));
    visit.consent = visit.analytics.status().consent;
    if ((visit.consent === 'denied') !== (denier !== undefined))
      violate('consent', `${name} finds consent ${visit.consent}`);
    return visit;
  };

  /** The page is gone. `survives` says of each of its open transactions whether the browser completes it. */
  const end = (visit: Visit, survives: () => boolean, keeps = 0.97): void => {
    const at = visits.indexOf(visit);
    if (at < 0) return;
    visits.splice(at, 1);
    visit.page.die();
    storage.leaveBehind(visit.page, survives);
    network.leaveBehind(visit.page.name, () => dice.chance(keeps));
    note(() => `${visit.page.name} is gone`);
  };

  const kill = (visit: Visit): void => {
    if (!visits.includes(visit)) return;
    end(visit, () => dice.chance(0.6), 0.6);
    judge.killed(disk.has);
  };

  /** Puts back what the page wrote into localStorage as it left. */
  const loseNote = ({ page, written }: Visit) => {
    note(() => `${page.name}: what it has written into localStorage is lost`);
    for (const [key, before] of written) disk.put(key, before);
  };

  const hasFault = faults.length > 0;

  /** Leaves the page in good order: its engine keeps what it writes then, or a part of that. */
  const leave = (visit: Visit, then?: () => void): void => {
    const { page } = visit;
    visit.isAway = true;
    consentAgain(visit);
    page.thaw();
    if (engine === 'chromium') network.failAll(page.name);
    after(0, () => {
      visit.written = new Map();
      // A page that is hidden already would hear of nothing.
      page.depart(engine === 'firefox' && !page.isHidden() && dice.chance(0.2));
      after(0, () => {
        const losesNote = engine === 'firefox' && !hasFault && storage.isReady(page);
        if (!visits.includes(visit)) return then?.(); // it was killed as it went
        if (losesNote && visit.analytics.status().storage === 'indexeddb' && dice.chance(0.4)) {
          loseNote(visit);
          end(visit, () => true);
        } else if (engine === 'webkit') end(visit, () => false);
        else end(visit, () => hasFault || dice.chance(0.95));
        then?.();
      });
    });
  };

  const setConsent = (visit: Visit, consent: Consent): void => {
    if (consent === 'granted') visit.consent = consent;
    visit.page.run(() => visit.analytics.setConsent(consent));
    after(0, () => (visit.consent = consent));
  };

  const consentAgain = (visit: Visit): void => {
    if (visit.analytics.status().consent === 'pending') setConsent(visit, 'granted');
  };

  const setDestination = (visit: Visit, letter: 'a' | 'b'): void => {
    judge.configured();
    visit.destination = address(letter); // what it has for the other one, it goes on to send
    visit.page.run(() => visit.analytics.init(optionsFor(visit.destination)));
  };

  const online = ({ page }: Visit): void => {
    judge.hoped(page.name);
    page.online();
  };

  const goOn = (visit: Visit): void => {
    judge.hoped(visit.page.name); // it may have to hear yet that it is online
    visit.page.thaw();
  };

  /** Nothing of the page is under way, and what it has heard is written. */
  const isQuiet = ({ page, busyAt }: Visit): boolean =>
    now() - busyAt > QUIET_MS && network.isIdle(page.name) && storage.isIdle(page);

  /** Whether a store takes what it keeps: it has to have opened its database while localStorage is full. */
  const canGo = ({ analytics }: Visit): boolean =>
    room === Infinity || analytics.status().storage === 'indexeddb';

  /** Whether its storage names all that the service may have of it. */
  const isNamed = (visit: Visit): boolean =>
    knowsRepeats || (!visit.page.isHidden() && now() - visit.riskedAt > QUIET_MS);

  /** Does it as soon as this is so, while the page is there. */
  const when = (visit: Visit, isSo: (visit: Visit) => boolean, act: () => void): void => {
    if (!visits.includes(visit)) return;
    if (isSo(visit)) act();
    else after(50, () => when(visit, isSo, act));
  };

  const checkCaps = ({ page, analytics }: Visit) => {
    if (!page.isRunning() || hasFault) return;
    const { waiting } = analytics.status();
    const { maxRecords = Infinity, maxBytes = Infinity } = options;
    if (waiting > maxRecords || waiting * LEAST_BYTES > maxBytes)
      violate('caps', `${page.name} keeps ${waiting} waiting`);
  };

  const call = (visit: Visit, list: Extract<Action, { do: 'call' }>['calls']) => {
    const { page, analytics } = visit;
    visit.busyAt = now();
    page.run(() => {
      for (const { user, isEvent, isBad } of list) {
        const name = `${isEvent ? 'event' : 'identify'} ${++calls}${isBad ? ` ${BAD}` : ''}`;
        if (!isEvent) analytics.identify(user ?? 'ada', { n: name });
        else analytics.event(name, user ? { userId: user } : {});
      }
    });
    after(CAPS_HOLD_MS, () => checkCaps(visit));
  };

  /** The page goes into the back/forward cache, and is back, or is thrown out of it, after a while. */
  const cache = (visit: Visit, { ms, isEvicted }: Extract<Action, { do: 'cache' }>) => {
    const { page } = visit;
    consentAgain(visit);
    visit.isAway = true;
    page.depart(false);
    after(0, page.freeze);
    after(ms + 1, () => {
      if (!visits.includes(visit)) return;
      if (isEvicted) return end(visit, () => true);
      visit.isAway = false;
      judge.hoped(page.name);
      page.comeBack();
    });
  };

  const freeze = ({ page }: Visit, ms: number) => {
    if (!page.isHidden() || !page.isRunning()) return;
    page.freeze();
    after(ms, () => {
      judge.hoped(page.name);
      page.resume();
    });
  };

  const killBrowser = (losesMs: number) => {
    for (const visit of [...visits]) end(visit, () => dice.chance(0.6), 0.6);
    if (losesMs > 0) disk.loseRecent(losesMs);
    judge.killed(disk.has);
  };

  /** What happens to a running page. */
  const actOn = (visit: Visit, action: Action): void => {
    const { page, analytics } = visit;
    switch (action.do) {
      case 'call':
        return call(visit, action.calls);
      case 'leave':
        return when(visit, canGo, () => leave(visit));
      case 'navigate':
        return when(visit, canGo, () => leave(visit, open));
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
          kill(visit);
        });
      case 'flush':
        return page.run(() => void analytics.flush());
      case 'reset':
        return page.run(() => analytics.reset());
      case 'pause consent':
        setConsent(visit, 'pending');
        return after(action.ms, () => visits.includes(visit) && consentAgain(visit));
      case 'destination':
        return setDestination(visit, visit.destination === address('a') ? 'b' : 'a');
    }
  };

  const act = (action: Action): void => {
    const running = visits.filter(({ page, isAway }) => page.isRunning() && !isAway);
    note(() => `· ${JSON.stringify(action)}`);
    switch (action.do) {
      case 'open':
        if (running.length < 4) open();
        return;
      case 'service':
        conditions.service = action.mode;
        return;
      case 'network':
        if (conditions.isOnline === action.isOnline) return;
        conditions.isOnline = action.isOnline;
        if (action.isOnline) visits.forEach(online);
        return;
      case 'budget':
        conditions.isBudgetTaken = action.isTaken;
        return;
      case 'token':
        conditions.token = `token-${++tokens}`;
        return;
      case 'kill browser':
        return killBrowser(action.losesMs);
      default: {
        const visit = running[action.page % running.length];
        return visit && actOn(visit, action);
      }
    }
  };

  // Faults.

  const begin = ({ what, lasts }: Fault): void => {
    note(() => `· ${JSON.stringify(what)} for ${lasts} ms`);
    switch (what.do) {
      case 'storage':
        Object.assign(trouble, what.trouble);
        return after(lasts, () => Object.assign(trouble, WELL));
      case 'full shelf':
        room = lengthOf(disk.shelf);
        return after(lasts, () => (room = Infinity));
      case 'close storage':
        return visits.forEach(({ page }) => storage.closeUnder(page));
      case 'clock':
        shift += what.by;
        return;
      case 'clear':
        disk.clear();
        return judge.release();
    }
  };

  // The world goes on.

  let steps = 0;
  const runUntil = async (time: number, isOver = () => false): Promise<void> => {
    while (!broken && timeline.next() <= time && !isOver()) {
      if (++steps > MOST_STEPS) return violate('ends', 'it never ends');
      timeline.step();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

  const mendStorage = () => {
    Object.assign(trouble, WELL);
    room = Infinity;
  };
  const mendAll = () => {
    note(() => '· all is well from here on');
    mendStorage();
    Object.assign(conditions, { service: 'well', isOnline: true, isBudgetTaken: false });
    for (const visit of visits) {
      goOn(visit);
      online(visit);
    }
  };

  /** Consent is denied: nothing stays, nothing is sent, and later pages know. Then it is given again. */
  const deny = () => {
    const visit = visits.find(({ page, isAway }) => page.isRunning() && !isAway) ?? open();
    denier = visit.page.name;
    judge.release();
    setConsent(visit, 'denied');
    // Others hear of it a moment later.
    after(2, () => visits.forEach((other) => (other.consent = other.analytics.status().consent)));
    after(60_000, () => {
      call(open(), [{ isEvent: true, isBad: false, user: undefined }]);
    });
    after(120_000, () => {
      for (const left of disk.records()) violate('consent', `a denial leaves ${left}`);
      denier = undefined;
      for (const one of visits) setConsent(one, 'granted');
    });
  };

  /** A visitor whose page has both destinations: all that waits can be sent. */
  const visitOnceMore = () => {
    const visit = open();
    call(visit, [{ isEvent: true, isBad: false, user: undefined }]);
    setDestination(visit, 'b');
    setDestination(visit, 'a');
  };

  const onRejection = (error: unknown) => violate('host', `a rejection: ${String(error)}`);
  process.on('unhandledRejection', onRejection);
  process.on('uncaughtException', onRejection);

  let time = 0;
  after(0, open);
  for (const { gap, action } of actions) {
    time += gap;
    after(time, () => act(action));
  }
  for (const fault of faults) after(fault.at * time, () => begin(fault));
  await runUntil(time);
  if (ending === 'denial') {
    after(1, mendStorage);
    after(2, deny);
    await runUntil(now() + 130_000);
  }
  after(1, mendAll);
  after(100, () => [...visits].forEach((visit) => leave(visit)));
  after(400, visitOnceMore);
  await runUntil(now() + 1_000);
  await runUntil(now() + PATIENCE_MS, judge.isOver);
  if (!broken) judge.close();

  process.off('unhandledRejection', onRejection);
  process.off('uncaughtException', onRejection);
  const trace = () =>
    notes.map(([at, line]) => `${(at / 1_000).toFixed(3).padStart(10)}  ${line()}`);
  if (broken) throw new Error(`${[broken.join(': '), ...trace()].join('\n')}`);
  return trace;
};
