import type { Analytics, Consent } from '../src/client/types.js';
import { createDice, type Dice } from './dice.js';
import type { Disk } from './disk.js';
import type { Storage } from './indexed-db.js';
import type { Judge } from './judge.js';
import { nameOfBody, type Conditions, type Network } from './network.js';
import { createPage, type Page } from './page.js';
import type { Scenario } from './scenario.js';
import type { Timeline } from './timeline.js';

const EPOCH = Date.UTC(2026, 0, 1);

/** The device of the user. */
export interface Device {
  /** How far its clock is from the truth. */
  shift: number;
  /** How many characters localStorage takes. */
  room: number;
}

/** A page that has not ended. */
export interface Visit {
  page: Page;
  analytics: Analytics;
  destination: string;
  /** What its page was told last. */
  asked: Consent;
  /** What its page goes by. */
  consent: Consent;
  /** It is being left, or is in the back/forward cache. */
  isAway: boolean;
  /** Keys of localStorage that it has written since it began to go away, and what stood there before. */
  written: Map<string, string | undefined>;
}

interface World {
  scenario: Scenario;
  timeline: Timeline;
  dice: Dice;
  disk: Disk;
  storage: Storage;
  network: Network;
  conditions: Conditions;
  device: Device;
  judge: Judge;
  note: (line: () => string) => void;
  /** Consent is denied to the whole site. */
  isDenied: () => boolean;
}

/** The pages of a world, from their opening to their end. */
export const createVisits = (world: World) => {
  const { timeline, dice, disk, storage, network, conditions, device, judge, note } = world;
  const { seed, setup, faults } = world.scenario;
  const { engine, way, options, hasIdleCallback } = setup;
  const { now, after } = timeline;
  const { violate } = judge;
  /** The pages that have not ended. */
  const all: Visit[] = [];
  let pages = 0;

  const addressOf = (letter: 'a' | 'b') => `https://${letter}.test${way === 'relay' ? '/a' : ''}`;
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
    onUnlessDead('sent', ({ record, handoff }) => judge.sent(name, record.id, handoff));
    onUnlessDead('outcome', ({ record, outcome, status }) => {
      note(() => `${name}: ${record.id} is ${outcome} ${status ?? ''}`);
      judge.outcome(name, record.id, outcome);
    });
    onUnlessDead('drop', ({ record, reason }) => {
      note(() => `${name}: ${record?.id ?? 'a call'} is dropped, ${reason}`);
      if (record) judge.dropped(name, record.id, reason);
    });
    onUnlessDead('storage', ({ storage: kind }) => {
      note(() => `${name}: storage is ${kind}`);
      judge.stores(name, kind);
    });
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
      clock: () => EPOCH + Math.floor(now()) + device.shift,
      isOnline: () => conditions.isOnline,
      room: () => device.room,
      hasIdleCallback,
      knowsRepeats: way !== 'direct',
      onThrow: (error) => violate('host', `${name}: ${String((error as Error).stack ?? error)}`),
      onShelf: (key, before) => {
        if (!visit.written.has(key)) visit.written.set(key, before);
        for (const other of all) if (other !== visit) other.page.hearOf(key);
      },
      onDeath: () => after(0, () => kill(visit)),
    });
    const visit: Visit = {
      page,
      analytics: page.createAnalytics(),
      destination: addressOf('a'),
      asked: 'granted',
      consent: 'granted',
      isAway: false,
      written: new Map(),
    };
    all.push(visit);
    listen(visit);
    note(() => `${name} opens`);
    page.run(() => visit.analytics.init(optionsFor(visit.destination)));
    visit.consent = visit.analytics.status().consent;
    if ((visit.consent === 'denied') !== world.isDenied())
      violate('consent', `${name} finds consent ${visit.consent}`);
    return visit;
  };

  /** The page is gone. `survives` says of each of its open transactions whether the browser completes it. */
  const end = (visit: Visit, survives: () => boolean, keeps = 0.97): void => {
    const at = all.indexOf(visit);
    if (at < 0) return;
    all.splice(at, 1);
    visit.page.die();
    storage.leaveBehind(visit.page, survives);
    network.leaveBehind(visit.page.name, () => dice.chance(keeps));
    note(() => `${visit.page.name} is gone`);
  };

  const kill = (visit: Visit): void => {
    if (!all.includes(visit)) return;
    end(visit, () => dice.chance(0.6), 0.6);
    judge.killed(disk.has);
  };

  /** Puts back what the page wrote into localStorage as it left. */
  const loseNote = ({ page, written }: Visit) => {
    note(() => `${page.name}: what it has written into localStorage is lost`);
    for (const [key, before] of written) disk.put(key, before);
  };

  const setConsent = (visit: Visit, consent: Consent): void => {
    visit.asked = consent;
    if (consent === 'granted') visit.consent = consent;
    visit.page.run(() => {
      judge.consented(visit.page.name, consent === 'granted');
      if (consent === 'pending' && visit.analytics.status().storage === 'memory')
        judge.setAside(visit.page.name);
      visit.analytics.setConsent(consent);
    });
    after(0, () => {
      if (visit.asked === consent) visit.consent = consent;
    });
  };

  /** The visitor says yes, unless one of them has said no by the time that the page runs. */
  const consentAgain = (visit: Visit): void =>
    visit.page.run(() => {
      if (visit.analytics.status().consent === 'pending') setConsent(visit, 'granted');
    });

  /** Leaves the page in good order: its engine keeps what it writes then, or a part of that. */
  const leave = (visit: Visit, then?: () => void): void => {
    const { page } = visit;
    const hasFault = faults.length > 0;
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
        if (!all.includes(visit)) return then?.(); // it was killed as it went
        if (losesNote && visit.analytics.status().storage === 'indexeddb' && dice.chance(0.4)) {
          loseNote(visit);
          end(visit, () => true);
        } else if (engine === 'webkit') end(visit, () => false);
        else end(visit, () => hasFault || dice.chance(0.95));
        then?.();
      });
    });
  };

  const isRunning = ({ page, isAway }: Visit): boolean => page.isRunning() && !isAway;

  return {
    all,
    byName: (name: string): Visit | undefined => all.find(({ page }) => page.name === name),
    /** Those that nothing holds up, and that are not being left. */
    running: (): Visit[] => all.filter(isRunning),
    has: (visit: Visit): boolean => all.includes(visit),
    open,
    leave,
    end,
    kill,
    killAll: (): void => {
      for (const visit of [...all]) end(visit, () => dice.chance(0.6), 0.6);
    },
    setConsent,
    consentAgain,
    /** The page is set up for one of the two destinations. What it has for the other one, it goes on to send. */
    setDestination: (visit: Visit, letter: 'a' | 'b'): void => {
      visit.destination = addressOf(letter);
      visit.page.run(() => visit.analytics.init(optionsFor(visit.destination)));
    },
    isAt: (visit: Visit, letter: 'a' | 'b'): boolean => visit.destination === addressOf(letter),
    online: ({ page }: Visit): void => {
      page.run(judge.online);
      page.online();
    },
  };
};

export type Visits = ReturnType<typeof createVisits>;
