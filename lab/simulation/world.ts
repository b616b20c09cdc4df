import type { Analytics, Consent, StorageKind } from '../../src/client/types.js';
import { createDisk } from './disk.js';
import { createStorage, type StorageTrouble } from './indexed-db.js';
import { createLedger } from './ledger.js';
import { createNetwork, type Conditions } from './network.js';
import { createPenalties } from './penalties.js';
import { createPage, type Page, type Product } from './page.js';
import { createDice } from '../random.js';
import type { Action, Scenario } from './scenario.js';
import { createTimeline } from './timeline.js';

const EPOCH = Date.UTC(2026, 0, 1);
/** As long as anything may take once all is well: the longest `Retry-After`, leases, and pauses. */
const PATIENCE = 4 * 3_600_000;
/** A request waits no longer than this for storage to say that it is under way. */
const ANNOUNCE_MS = 100;
/** No body of these calls is shorter. */
const LEAST_BYTES = 50;
/** More than any world of this size needs. */
const MOST_STEPS = 2_000_000;

export interface Violation {
  invariant: string;
  message: string;
}

export interface Result {
  violation: Violation | undefined;
  steps: number;
  records: number;
  /** What happened, for people to read. */
  trace: string[];
}

interface Visit {
  page: Page;
  analytics: Analytics;
  destination: string;
  /** What its page was told last. */
  consent: Consent;
  isCached: boolean;
  isFrozen: boolean;
  /** When it went on last, having stood still. */
  thawedAt: number;
  /** What it has written into localStorage since it began to go away, and what stood there before. */
  written: Map<string, string | undefined>;
}

const nextTask = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Lets a scenario happen to the real code, and watches. Stops at the first violation. */
export const runScenario = async (
  scenario: Scenario,
  product: Product,
  isTracing = false,
): Promise<Result> => {
  const { seed, setup, actions } = scenario;
  const { engine, way, options } = setup;
  const timeline = createTimeline();
  const dice = createDice(seed, 'world');
  const trace: string[] = [];
  let violation: Violation | undefined;
  let shift = 0;
  let lastShake = -1;
  let isShelfFull = false;
  let lastFull = -1;
  /** When a page that was left took its exit note with it, but not what it had stored. */
  let lastForgotten = -1;
  let pages = 0;
  let tokens = 0;
  let isDenied = false;
  /** The page that is just being told that consent is denied. */
  let denying = '';
  /** When the clock was set or storage cleared last. */
  let lastUpset = -1;
  /** When two pages lived at the same time last. */
  let lastCompany = -1;
  let lastKill = -1;
  const visits: Visit[] = [];
  const kinds = new Map<string, StorageKind>();
  const departures = new Map<string, number>();
  const stops = new Map<string, number>();
  const commits = new Map<string, number>();
  const trouble: StorageTrouble = { aborts: 0, hangs: false, refuses: false, slow: 0 };

  const now = timeline.now;
  const clock = () => EPOCH + Math.floor(now()) + shift;
  const note = (line: string) => {
    if (isTracing) trace.push(`${(now() / 1_000).toFixed(3).padStart(10)}  ${line}`);
  };
  const violate = (invariant: string, message: string) => {
    violation ??= { invariant, message };
    note(`✗ ${invariant}: ${message}`);
  };
  const shake = () => {
    lastShake = now();
  };
  const isTroubled = () =>
    trouble.aborts > 0 || trouble.hangs || trouble.refuses || trouble.slow > 0 || isShelfFull;
  const visitOf = (name: string) => visits.find(({ page }) => page.name === name);

  const ledger = createLedger(
    {
      isRunning: (name) => visitOf(name)?.page.state() === 'running',
      isStoring: (name) => kinds.get(name) === 'indexeddb',
      isCalmSince: (time) => !isTroubled() && lastShake < time,
      couldNoteSince: (time) => !setup.hasNoShelf && !isShelfFull && lastFull < time,
      hasNotesSince: (time) => lastForgotten < time,
      hadCompanySince: (time) => visits.length > 1 || lastCompany > time,
      wasSteadySince: (time) => lastUpset < time,
      wasKilledSince: (time) => lastKill >= time,
      hasNoted: (name, since) => (commits.get(name) ?? -1) > since,
      resends: way !== 'direct',
      leftAt: (name) => departures.get(name) ?? Infinity,
      stoppedAt: (name) => stops.get(name) ?? -1,
      now,
    },
    violate,
  );
  const disk = createDisk({
    now,
    onKept: () => undefined,
    onGone: (id, change) => {
      // A page without a database takes over what others have noted.
      const isInMemory = kinds.get(change.page) !== 'indexeddb';
      const isRemoved = change.by === 'transaction' && isInMemory;
      const by = change.page === denying ? 'clear' : isRemoved ? 'shelf' : change.by;
      ledger.gone(id, { ...change, by });
    },
  });
  const storage = createStorage({
    timeline,
    disk,
    dice: createDice(seed, 'storage'),
    trouble,
    onWrite: (name, ids) => {
      const visit = visitOf(name);
      if (visit && visit.consent !== 'granted' && ids.some((id) => !disk.has(id))) {
        violate('consent', `${name} stores records, and consent is ${visit.consent}`);
      }
    },
    onAbort: shake,
    onCommit: (name, began) => commits.set(name, Math.max(began, commits.get(name) ?? -1)),
  });
  const penalties = createPenalties({
    now,
    clock,
    shelf: disk.shelf,
    lastShake: () => lastShake,
    violate,
  });
  const conditions: Conditions = {
    service: 'well',
    isOnline: true,
    isBudgetTaken: false,
    token: 'token-0',
    knowsRepeats: way !== 'direct',
  };
  const network = createNetwork({
    timeline,
    dice: createDice(seed, 'network'),
    conditions,
    saysLate: engine === 'chromium',
    ledger,
    note,
    onStart: (attempt) => {
      const { page: name, destination, ids } = attempt;
      const visit = visitOf(name);
      attempt.isRushed = !!visit && (visit.page.isHidden() || storage.waitOf(name) >= ANNOUNCE_MS);
      note(`${name} → ${ids.map((id) => ledger.fates.get(id)?.name ?? id).join(', ')}`);
      if (visit && visit.consent !== 'granted') {
        violate('consent', `${name} sends, and consent is ${visit.consent}`);
      }
      if (ledger.isFallback(attempt)) return;
      const oldest = Math.min(...ids.map((id) => ledger.fates.get(id)?.madeAt ?? Infinity));
      if (now() - oldest > (options.maxAge ?? Infinity) && lastUpset < 0) {
        violate('caps', `${name} sends what is older than it may be`);
      }
      penalties.started(name, destination);
    },
    onAnswer: ({ page, startedAt }) => penalties.answered(page, startedAt),
    onWait: (name, destination, seconds) => {
      // While it stood still its timeout has passed: it may have given the request up.
      if (now() - (visitOf(name)?.thawedAt ?? -Infinity) < 1_000) return;
      penalties.asked(name, destination, seconds);
    },
  });

  // --- pages ---------------------------------------------------------------------------------------

  const address = (letter: string) => `https://${letter}.test${way === 'relay' ? '/a' : ''}`;

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

  const open = (): Visit => {
    const name = `page ${++pages}`;
    const page: Page = createPage({
      name,
      product,
      timeline,
      disk,
      storage,
      network,
      dice: createDice(seed, name),
      clock,
      isOnline: () => conditions.isOnline,
      isShelfBlocked: setup.hasNoShelf,
      isShelfFull: () => isShelfFull,
      hasScheduler: setup.hasScheduler,
      onThrow: (error) => violate('host', `${name} throws ${String((error as Error).stack)}`),
      onFuse: () => {
        const isInMemory = kinds.get(name) === 'memory';
        const notes = [...disk.shelf.values()].join();
        ledger.torn((id) => notes.includes(id), isInMemory);
        timeline.after(0, () => settleDeath(visit, 'killed'));
      },
      onShelf: (key, before, value) => {
        if (denying !== name) penalties.wrote(name, key, before, value);
        if (!visit.written.has(key)) visit.written.set(key, before);
        for (const other of visits) {
          if (other !== visit && other.page.state() !== 'dead') other.page.hearOf(key);
        }
      },
      onConsole: (line) => violate('host', `${name} writes to the console: ${line}`),
    });
    const analytics = page.product.createAnalytics();
    const visit: Visit = {
      page,
      analytics,
      destination: address('a'),
      consent: 'granted',
      isCached: false,
      isFrozen: false,
      thawedAt: -Infinity,
      written: new Map(),
    };
    visits.push(visit);
    const whileAlive =
      <T>(listener: (payload: T) => void) =>
      (payload: T) => {
        if (page.state() !== 'dead') listener(payload);
      };
    analytics.on(
      'record',
      whileAlive(({ id, type, body, user }) => {
        const parsed = JSON.parse(body) as { event?: string; properties?: { n: string } };
        const called = parsed.event ?? parsed.properties!.n;
        const { destination } = visit;
        ledger.accepted({ id, name: called, type, user, destination, page: name });
      }),
    );
    analytics.on(
      'sent',
      whileAlive(({ record, handoff }) => {
        const fate = ledger.fates.get(record.id);
        if (fate) fate.isHandedOff = handoff;
      }),
    );
    analytics.on(
      'outcome',
      whileAlive(({ record, outcome, status }) => {
        note(`${name}: ${ledger.fates.get(record.id)?.name} is ${outcome} ${status ?? ''}`);
        ledger.outcome(name, record.id, outcome);
      }),
    );
    analytics.on(
      'drop',
      whileAlive(({ record, reason }) => {
        note(
          `${name}: ${record ? ledger.fates.get(record.id)?.name : 'a call'} is dropped, ${reason}`,
        );
        if (record) ledger.dropped(name, record.id, reason);
      }),
    );
    analytics.on(
      'storage',
      whileAlive(({ storage: kind }) => {
        note(`${name}: storage is ${kind}`);
        kinds.set(name, kind);
      }),
    );
    page.run(() => analytics.init(optionsFor(visit.destination)));
    visit.consent = analytics.status().consent;
    if (isDenied && visit.consent !== 'denied') {
      violate('consent', `${name} has forgotten that consent was denied`);
    }
    note(`${name} opens`);
    return visit;
  };

  const settleDeath = (
    visit: Visit,
    how: 'left' | 'killed',
    survives: () => boolean = () => dice.chance(0.6),
  ) => {
    const { page } = visit;
    if (!visits.includes(visit)) return;
    page.die();
    if (how === 'killed') {
      lastKill = now();
      stops.set(page.name, lastKill);
    }
    storage.leaveBehind(page, survives);
    network.leaveBehind(page.name, how, () => dice.chance(how === 'left' ? 0.97 : 0.6));
    const isHelpless = setup.hasNoShelf || (isShelfFull && kinds.get(page.name) !== 'indexeddb');
    if (how === 'killed' || isHelpless || visit.consent !== 'granted') {
      ledger.lostWith(page.name, disk.has, 'its page was killed');
    }
    if (visits.length > 1) lastCompany = now();
    visits.splice(visits.indexOf(visit), 1);
  };

  /** What an engine keeps of what a page writes as it goes away. */
  const leave = (visit: Visit, then?: () => void) => {
    const { page } = visit;
    visit.page.thaw();
    if (engine === 'chromium') network.failAll(page.name);
    timeline.after(0, () => {
      departures.set(page.name, now());
      const notes = (visit.written = new Map());
      const skipsPagehide = engine === 'firefox' && dice.chance(0.2);
      // One that was hidden already hears of nothing then.
      const how = skipsPagehide && page.isHidden() ? 'killed' : 'left';
      page.depart(skipsPagehide);
      timeline.after(0, () => {
        const isStored = kinds.get(page.name) === 'indexeddb' && !isTroubled() && !setup.hasNoShelf;
        if (engine === 'firefox' && isStored && storage.isReady(page) && dice.chance(0.4)) {
          note(`${page.name}: what it has written into localStorage is lost`);
          lastForgotten = now();
          const beingWritten = storage.beingWritten(page);
          for (const [key, before] of notes) {
            disk.setShelf(key, before, { page: page.name, by: 'crash' });
          }
          settleDeath(visit, how, () => true);
          // What could not be written, because its database was closed or had failed.
          const isKept = (id: string) => disk.has(id) || beingWritten.has(id);
          ledger.lostWith(page.name, isKept, 'its exit note was lost');
        } else {
          const share = engine === 'webkit' ? 0 : 0.95;
          settleDeath(visit, how, () => dice.chance(share));
        }
        then?.();
      });
    });
  };

  // --- what happens --------------------------------------------------------------------------------

  const setConsent = (visit: Visit, consent: Consent) => {
    if (consent === 'granted') visit.consent = consent;
    if (consent === 'granted') isDenied = false;
    if (consent === 'denied') denying = visit.page.name;
    visit.page.run(() => visit.analytics.setConsent(consent));
    denying = '';
    timeline.after(0, () => {
      visit.consent = consent;
    });
    if (consent === 'denied') isDenied = !isShelfFull && !setup.hasNoShelf;
  };

  /** What is in flight cannot be dropped. */
  const checkCap = ({ page, analytics }: Visit) => {
    if (page.state() !== 'running' || isTroubled()) return;
    const { waiting } = analytics.status();
    const { maxRecords = Infinity, maxBytes = Infinity } = options;
    if (waiting > maxRecords || waiting * LEAST_BYTES > maxBytes) {
      violate('caps', `${page.name} keeps ${waiting} waiting`);
    }
  };

  const goOn = (visit: Visit) => {
    visit.thawedAt = now();
    penalties.hoped(visit.page.name); // it may have to hear yet that it is online
    visit.page.thaw();
  };

  const online = (page: Page) => {
    penalties.hoped(page.name);
    page.online();
  };

  const act = (action: Action): void => {
    const alive = visits.filter(({ page }) => page.state() === 'running' && page.isLit());
    const of = (list: Visit[]) => ('page' in action ? list[action.page % list.length] : undefined);
    const visit = of(alive);
    const inWords = { ...action, at: undefined, page: visit?.page.name };
    note(`· ${JSON.stringify(inWords)}`);
    switch (action.do) {
      case 'open':
        if (alive.length < 4) open();
        return;
      case 'service':
        conditions.service = action.mode;
        return;
      case 'network':
        if (conditions.isOnline === action.isOnline) return;
        conditions.isOnline = action.isOnline;
        if (action.isOnline) for (const { page } of visits) online(page);
        return;
      case 'budget':
        conditions.isBudgetTaken = action.isTaken;
        return;
      case 'storage':
        shake();
        Object.assign(trouble, {
          aborts: action.trouble === 'aborts' ? dice.between(1, 4) : 0,
          hangs: action.trouble === 'hangs',
          refuses: action.trouble === 'refuses',
          slow: action.trouble === 'slow' ? dice.pick([20, 300, 900]) : 0,
        });
        return;
      case 'clear storage':
        shake();
        lastUpset = now();
        isDenied = false;
        return disk.clear();
      case 'shelf':
        shake();
        lastFull = now();
        isShelfFull = action.isFull;
        return;
      case 'foreign record': {
        const [name] = disk.names();
        if (!name) return;
        const key = [0, 'stranger', 1] as const;
        const text = JSON.stringify({ v: 9, holder: 'stranger' });
        return disk.commit(name, new Map([['foreign', { key, text, ids: [] }]]), {
          page: '',
          by: 'user',
        });
      }
      case 'clock':
        shake();
        lastUpset = now();
        shift += action.by;
        return;
      case 'token':
        conditions.token = `token-${++tokens}`;
        return;
      case 'kill browser':
        for (const one of [...visits]) {
          one.page.die();
          settleDeath(one, 'killed');
        }
        if (action.loses > 0) {
          disk.loseRecent(action.loses);
          shake();
          isDenied = false;
        }
        ledger.lostWith('', disk.has, 'the browser was killed');
        return;
      case 'return':
      case 'evict': {
        const cached = of(visits.filter(({ isCached }) => isCached));
        if (!cached) return;
        cached.isCached = false;
        if (action.do === 'evict') return settleDeath(cached, 'left', () => true);
        goOn(cached);
        return cached.page.comeBack();
      }
      case 'thaw': {
        const frozen = of(visits.filter(({ isFrozen }) => isFrozen));
        if (!frozen) return;
        frozen.isFrozen = false;
        goOn(frozen);
        return frozen.page.resume();
      }
    }
    if (!visit) return;
    const { page, analytics } = visit;
    switch (action.do) {
      case 'call':
        page.run(() => {
          for (const { type, name, user } of action.calls) {
            if (type === 'identify') analytics.identify(user!, { n: name });
            else analytics.event(name, user ? { userId: user } : {});
          }
        });
        return timeline.after(1_000, () => checkCap(visit));
      case 'leave':
        return leave(visit);
      case 'navigate':
        return leave(visit, open);
      case 'cache':
        visit.isCached = true;
        visit.isFrozen = false;
        page.depart(false);
        stops.set(page.name, now());
        return timeline.after(0, () => page.freeze());
      case 'kill':
        if (action.after > 0) return page.light(action.after);
        page.die();
        return settleDeath(visit, 'killed');
      case 'freeze':
        page.hide();
        visit.isFrozen = true;
        return timeline.after(dice.between(0, 500), () => {
          stops.set(page.name, now());
          page.freeze();
        });
      case 'hide':
        return page.hide();
      case 'show':
        return page.show();
      case 'close storage':
        shake();
        return storage.closeUnder(page);
      case 'flush':
        return page.run(() => void analytics.flush());
      case 'reset':
        return page.run(() => analytics.reset());
      case 'consent':
        return setConsent(visit, action.consent);
      case 'destination':
        penalties.configured(page.name);
        shake();
        visit.destination = visit.destination === address('a') ? address('b') : address('a');
        page.run(() => analytics.init(optionsFor(visit.destination)));
        // Where storage was cleared, what was remembered is.
        if (!isDenied) visit.consent = analytics.status().consent;
        return;
    }
  };

  // --- how it goes ---------------------------------------------------------------------------------

  let steps = 0;
  const onRejection = (error: unknown) =>
    violate('host', `an unhandled rejection: ${String(error)}`);
  process.on('unhandledRejection', onRejection);

  const runUntil = async (time: number, isOver = () => false): Promise<void> => {
    while (!violation && timeline.next() <= time && !isOver()) {
      if (++steps > MOST_STEPS) return violate('ends', 'it never ends');
      penalties.stepped();
      timeline.step();
      await nextTask();
    }
  };

  const areAllResolved = () => ledger.unresolved() === 0;

  for (const action of actions) timeline.after(action.at, () => act(action));
  await runUntil(actions.at(-1)?.at ?? 0);

  // From here on all is well, and somebody visits the site.
  timeline.after(1, () => {
    note('· all is well from here on');
    shake();
    Object.assign(trouble, { aborts: 0, hangs: false, refuses: false, slow: 0 });
    if (isShelfFull) lastFull = now();
    isShelfFull = false;
    Object.assign(conditions, { service: 'well', isOnline: true, isBudgetTaken: false });
    for (const visit of visits) {
      goOn(visit);
      online(visit.page);
    }
  });
  timeline.after(100, () => {
    for (const visit of [...visits]) leave(visit);
  });
  timeline.after(400, () => {
    const visit = open();
    setConsent(visit, 'granted');
    visit.destination = address('b');
    visit.page.run(() => visit.analytics.init(optionsFor(visit.destination)));
    visit.destination = address('a');
    visit.page.run(() => visit.analytics.init(optionsFor(visit.destination)));
  });
  const beginning = now();
  await runUntil(now() + 1_000);
  await runUntil(beginning + PATIENCE, areAllResolved);
  if (!violation) ledger.close(disk.has);
  process.off('unhandledRejection', onRejection);
  return { violation, steps, records: ledger.fates.size, trace };
};
