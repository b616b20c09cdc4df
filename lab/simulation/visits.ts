import type { Consent, StorageKind } from './client.js';
import { createDice } from '../random.js';
import type { Excuse } from './excuses.js';
import type { Fate } from './fate.js';
import { createPage, type Page, type Product } from './page.js';
import type { Setup } from './scenario.js';
import type { Visit, World } from './world.js';

/** A record is stored within this time of its call, where storage works. */
const STORED_WITHIN_MS = 50;

/** Opens pages, and ends them as their engine does. */
export const createVisits = (world: World, seed: number, setup: Setup, product: Product) => {
  const { timeline, now, clock, dice, note, violate, state, visits } = world;
  const { kinds, isStoring, faults, ledger, disk, storage, network, penalties } = world;
  const { engine, way, options } = setup;
  let pages = 0;

  const address = (letter: string) => `https://${letter}.test${way === 'relay' ? '/a' : ''}`;

  const optionsFor = (destination: string) => ({
    ...(way === 'relay'
      ? { relay: destination }
      : {
          baseUrl: destination,
          idempotencyKey: way === 'keyed',
          token: async () => (dice.chance(0.85) ? world.conditions.token : 'token-old'),
        }),
    project: 'p',
    channel: 'c',
    ...options,
  });

  /** What ends that a page works without the database of a destination. */
  const endings = new Map<string, () => void>();

  /**
   * The page does not say whose storage it speaks of. It is the current destination's where that has just
   * become so, else the other one's.
   */
  const hearStorage = ({ page: { name }, analytics, destination }: Visit, kind: StorageKind) => {
    const known = kinds.get(name) ?? new Map<string, { kind: StorageKind; since: number }>();
    const isCurrent = analytics.status().storage === kind && known.get(destination)?.kind !== kind;
    const other = address(destination === address('a') ? 'b' : 'a');
    const one = isCurrent ? destination : other;
    kinds.set(name, known.set(one, { kind, since: now() }));
    const key = `${name} ${one}`;
    if (kind === 'indexeddb') {
      endings.get(key)?.();
      endings.delete(key);
    } else if (!endings.has(key)) endings.set(key, faults.beginEffect(name));
  };

  /** Tells the ledger what the page reports of its records. */
  const listen = (visit: Visit) => {
    const { page, analytics } = visit;
    const { name } = page;
    const nameOf = (id: string) => ledger.fates.get(id)?.name;
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
        ledger.made({ id, name: called, type, user, destination, page: name });
      }),
    );
    analytics.on(
      'sent',
      whileAlive(({ record, handoff }) => {
        const fate = ledger.fates.get(record.id);
        if (fate) fate.isHandedOff ||= handoff;
      }),
    );
    analytics.on(
      'outcome',
      whileAlive(({ record, outcome, status }) => {
        note(`${name}: ${nameOf(record.id)} is ${outcome} ${status ?? ''}`);
        ledger.outcome(name, record.id, outcome);
      }),
    );
    analytics.on(
      'drop',
      whileAlive(({ record, reason }) => {
        note(`${name}: ${record ? nameOf(record.id) : 'a call'} is dropped, ${reason}`);
        if (record) ledger.dropped(name, record.id, reason);
      }),
    );
    analytics.on(
      'storage',
      whileAlive(({ storage: kind }) => {
        note(`${name}: storage is ${kind}`);
        hearStorage(visit, kind);
      }),
    );
  };

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
      isOnline: () => world.conditions.isOnline,
      isShelfBlocked: setup.hasNoShelf,
      isShelfFull: () => state.isShelfFull,
      hasIdleCallback: setup.hasIdleCallback,
      onThrow: (error) => violate('host', `${name} throws ${String((error as Error).stack)}`),
      onDeath: () => timeline.after(0, () => kill(visit)),
      onShelf: (key, before, value) => {
        if (state.denying !== name) penalties.wrote(name, key, before, value);
        if (!visit.written.has(key)) visit.written.set(key, before);
        for (const other of visits) {
          if (other !== visit && other.page.state() !== 'dead') other.page.hearOf(key);
        }
      },
      onConsole: (line) => violate('host', `${name} writes to the console: ${line}`),
    });
    const visit: Visit = {
      page,
      analytics: page.product.createAnalytics(),
      destination: address('a'),
      consent: 'granted',
      isCached: false,
      isFrozen: false,
      thawedAt: -Infinity,
      written: new Map(),
    };
    visits.push(visit);
    listen(visit);
    page.run(() => visit.analytics.init(optionsFor(visit.destination)));
    visit.consent = visit.analytics.status().consent;
    if (state.isDenied && visit.consent !== 'denied') {
      violate('consent', `${name} has forgotten that consent was denied`);
    }
    note(`${name} opens`);
    return visit;
  };

  /** What excuses that a record is lost which only the memory of a killed page had. */
  const whyKilled = ({ madeAt, destination }: Fate, { page }: Visit): Excuse | undefined => {
    if (now() - madeAt < STORED_WITHIN_MS) {
      return 'lost: its page was killed before it could be stored';
    }
    return !isStoring(page.name, destination) || faults.wereSince(madeAt, 'database')
      ? 'lost: its page was killed while it had no database'
      : undefined;
  };

  /** The same of a page that left: it could neither store the record nor note it. */
  const whyLeft = (fate: Fate, { page }: Visit, losesNote: boolean): Excuse | undefined => {
    const { madeAt, destination } = fate;
    const hasNote = !setup.hasNoShelf && !state.isShelfFull && !losesNote;
    // An engine that loses the note keeps every write that the page has begun, which takes an open database.
    const hasDatabase = losesNote
      ? world.hasStoredSince(page.name, destination, madeAt) &&
        !faults.wereSince(madeAt, 'database')
      : isStoring(page.name, destination) && !faults.wereSince(madeAt, 'database', 'exit write');
    return (hasNote || hasDatabase) && !wasCachedInVain(fate, page.name)
      ? undefined
      : 'lost: its page left while both stores failed';
  };

  /** A page that goes into the back/forward cache keeps nothing in memory either. */
  const wasCachedInVain = ({ madeAt }: Fate, name: string): boolean =>
    world
      .cachingsSince(name, madeAt)
      .some(
        (at) =>
          faults.wereBetween(at, at, 'localStorage') && faults.wereBetween(madeAt, at, 'database'),
      );

  /** The page is gone. `survives` says of each of its open transactions whether the browser completes it. */
  const end = (
    visit: Visit,
    how: 'left' | 'killed',
    survives = () => dice.chance(0.6),
    losesNote = false,
  ): void => {
    const { page, consent } = visit;
    if (!visits.includes(visit)) return;
    page.die();
    if (how === 'killed') world.killed(page.name);
    for (const letter of ['a', 'b'] as const) endings.delete(`${page.name} ${address(letter)}`);
    const isAllWritten = storage.leaveBehind(page, survives);
    if (how === 'left' && !isAllWritten) faults.happen('exit write', page.name);
    network.leaveBehind(page.name, how, () => dice.chance(how === 'left' ? 0.97 : 0.6));
    ledger.endedWith(page.name, disk.has, (fate) => {
      if (consent !== 'granted') return 'lost: its page ended before consent was given';
      return how === 'killed' ? whyKilled(fate, visit) : whyLeft(fate, visit, losesNote);
    });
    visits.splice(visits.indexOf(visit), 1);
  };

  const kill = (visit: Visit): void => {
    faults.happen('kill', visit.page.name);
    end(visit, 'killed');
  };

  /** Firefox keeps what the page has stored in IndexedDB, but not what it wrote into localStorage. */
  const loseNote = ({ page, written }: Visit) => {
    note(`${page.name}: what it has written into localStorage is lost`);
    faults.happen('exit note', page.name);
    for (const [key, before] of written) {
      disk.setShelf(key, before, { page: page.name, by: 'exit' });
    }
  };

  /** Leaves the page in good order: its engine keeps what it writes then, or a part of that. */
  const leave = (visit: Visit, then?: () => void): void => {
    const { page } = visit;
    page.thaw();
    if (engine === 'chromium') network.failAll(page.name);
    timeline.after(0, () => {
      world.departures.set(page.name, now());
      visit.written = new Map();
      const skipsPagehide = engine === 'firefox' && dice.chance(0.2);
      // A page that is hidden already hears of nothing then.
      const how = skipsPagehide && page.isHidden() ? 'killed' : 'left';
      if (how === 'killed') faults.happen('kill', page.name);
      page.depart(skipsPagehide);
      timeline.after(0, () => {
        if (!visits.includes(visit)) return then?.(); // it was killed as it went
        const isStored =
          isStoring(page.name, visit.destination) && !world.isTroubled() && !setup.hasNoShelf;
        if (engine === 'firefox' && isStored && storage.isReady(page) && dice.chance(0.4)) {
          loseNote(visit);
          end(visit, how, () => true, true);
        } else {
          const share = engine === 'webkit' ? 0 : 0.95;
          end(visit, how, () => dice.chance(share));
        }
        then?.();
      });
    });
  };

  return {
    open,
    kill,
    end,
    leave,
    /** The page goes on, having stood still. */
    goOn: (visit: Visit): void => {
      visit.thawedAt = now();
      world.resumed(visit.page.name);
      penalties.hoped(visit.page.name); // it may have to hear yet that it is online
      visit.page.thaw();
    },
    online: ({ page }: Visit): void => {
      penalties.hoped(page.name);
      page.online();
    },
    setConsent: (visit: Visit, consent: Consent): void => {
      if (consent === 'granted') {
        visit.consent = consent;
        state.isDenied = false;
      }
      if (consent === 'denied') state.denying = visit.page.name;
      // Its databases are opened anew then.
      if (consent !== visit.analytics.status().consent) kinds.delete(visit.page.name);
      visit.page.run(() => visit.analytics.setConsent(consent));
      state.denying = undefined;
      timeline.after(0, () => {
        visit.consent = consent;
      });
      if (consent === 'denied') state.isDenied = !state.isShelfFull && !setup.hasNoShelf;
    },
    /** The page gets another destination: one of two. */
    setDestination: (visit: Visit, letter: 'a' | 'b'): void => {
      visit.destination = address(letter); // what it has for the other one, it goes on to send
      visit.page.run(() => visit.analytics.init(optionsFor(visit.destination)));
    },
    isAt: ({ destination }: Visit, letter: 'a' | 'b'): boolean => destination === address(letter),
  };
};

export type Visits = ReturnType<typeof createVisits>;
