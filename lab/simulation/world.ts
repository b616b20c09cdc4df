import type { Consent, StorageKind } from './client.js';
import { createDice } from '../random.js';
import { createDisk, type Change } from './disk.js';
import { createFaults } from './faults.js';
import { createStorage, type StorageTrouble } from './indexed-db.js';
import { createLedger } from './ledger.js';
import { createNetwork, type Conditions } from './network.js';
import type { Page } from './page.js';
import { createPenalties } from './penalties.js';
import type { Scenario } from './scenario.js';
import { createTimeline } from './timeline.js';
import { createVerdicts } from './verdicts.js';
import type { Pause, Witness } from './witness.js';

const EPOCH = Date.UTC(2026, 0, 1);
/** For so long after it stood still, a page may have given a request up without a word. */
const THAWING_MS = 1_000;

export interface Violation {
  invariant: string;
  message: string;
}

/** What the world remembers of a page that has not ended. */
export interface Visit {
  page: Page;
  analytics: ReturnType<Page['product']['createAnalytics']>;
  destination: string;
  /** What its page was told last. */
  consent: Consent;
  isCached: boolean;
  isFrozen: boolean;
  /** When it went on last, having stood still. */
  thawedAt: number;
  /** Keys of localStorage that it has written since it began to go away, and what stood there before. */
  written: Map<string, string | undefined>;
}

/** Everything beside the pages: stores, network, clock, and who judges what happens. */
export const createWorld = ({ seed, setup }: Scenario, isTracing: boolean) => {
  const timeline = createTimeline();
  const { now } = timeline;
  const trace: string[] = [];
  const visits: Visit[] = [];
  const state = {
    violation: undefined as Violation | undefined,
    /** How far the clients' clock is from the truth. */
    shift: 0,
    isShelfFull: false,
    isDenied: false,
    /** The page that is just being told that consent is denied. */
    denying: undefined as string | undefined,
    /** When storage was last made to answer late or never. */
    lastSlow: -Infinity,
  };
  /** By page and destination: where its records are kept. */
  const kinds = new Map<string, Map<string, { kind: StorageKind; since: number }>>();
  /** When each page was left in good order. */
  const departures = new Map<string, number>();
  /** When each page was frozen or in the back/forward cache. */
  const pauses = new Map<string, Pause[]>();
  const kills = new Map<string, number>();
  /** By page: when the latest of its transactions that were stored had begun. */
  const commits = new Map<string, number>();
  const trouble: StorageTrouble = { aborts: 0, hangs: false, refuses: false, slow: 0 };
  const conditions: Conditions = {
    service: 'well',
    isOnline: true,
    isBudgetTaken: false,
    token: 'token-0',
    knowsRepeats: setup.way !== 'direct',
  };

  const clock = () => EPOCH + Math.floor(now()) + state.shift;
  const note = (line: string) => {
    if (isTracing) trace.push(`${(now() / 1_000).toFixed(3).padStart(10)}  ${line}`);
  };
  const violate = (invariant: string, message: string) => {
    state.violation ??= { invariant, message };
    note(`✗ ${invariant}: ${message}`);
  };
  const visitOf = (name: string) => visits.find(({ page }) => page.name === name);
  const isStoring = (name: string, destination: string) =>
    kinds.get(name)?.get(destination)?.kind === 'indexeddb';
  const storedBy = (name: string) =>
    new Set([...(kinds.get(name)?.keys() ?? [])].filter((one) => isStoring(name, one)));

  const faults = createFaults(now);
  if (setup.hasNoShelf) faults.begin('localStorage');
  const verdicts = createVerdicts(violate);

  const wasCutShortBetween = (name: string, from: number, to: number) =>
    [...(pauses.get(name) ?? []).map((pause) => pause.from), kills.get(name) ?? Infinity].some(
      (at) => from <= at && at <= to,
    );
  const wasLeftBetween = (name: string, from: number, to: number) => {
    const at = departures.get(name) ?? Infinity;
    return from <= at && at <= to;
  };
  const witness: Witness = {
    now,
    resends: setup.way !== 'direct',
    isRunning: (name) => visitOf(name)?.page.state() === 'running',
    wasCutShortBetween,
    hasPausedSince: (name, time) => (pauses.get(name) ?? []).some(({ from }) => from >= time),
    pausesSince: (name, time) => (pauses.get(name) ?? []).filter(({ to }) => to >= time),
    wasStoppedBetween: (name, from, to) =>
      wasCutShortBetween(name, from, to) || wasLeftBetween(name, from, to),
    hasWrittenSince: (name, time) => (commits.get(name) ?? -1) > time,
  };
  const ledger = createLedger(witness, faults, verdicts, violate);

  const howItChanged = (id: string, { page, by }: Change): Change['by'] => {
    // A page that is told of the denial by another one removes what was noted since, too.
    if (page !== '' && (page === state.denying || (by === 'shelf' && state.isDenied))) {
      return 'clear';
    }
    // A page without a database may move what others have noted from one store to the other.
    const { destination = '' } = ledger.fates.get(id) ?? {};
    return by === 'transaction' && !isStoring(page, destination) ? 'shelf' : by;
  };
  const disk = createDisk({
    now,
    onGone: (id, change) => ledger.gone(id, { ...change, by: howItChanged(id, change) }),
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
    onAbort: () => {
      if (trouble.aborts === 0) faults.end('database');
    },
    onCommit: (name, began) => commits.set(name, Math.max(began, commits.get(name) ?? -1)),
  });
  const penalties = createPenalties({ now, clock, shelf: disk.shelf, faults, verdicts });

  const watchCap = (name: string, ids: readonly string[]) => {
    const { maxAge = Infinity } = setup.options;
    const oldest = Math.min(...ids.map((id) => ledger.fates.get(id)?.madeAt ?? Infinity));
    if (now() - oldest > maxAge && !faults.wereSince(0, 'clock', 'clearing')) {
      violate('caps', `${name} sends what is older than it may be`);
    }
  };
  const network = createNetwork({
    timeline,
    dice: createDice(seed, 'network'),
    conditions,
    saysLate: setup.engine === 'chromium',
    ledger,
    note,
    onStart: (attempt) => {
      const { page: name, destination, ids } = attempt;
      const visit = visitOf(name);
      attempt.isHidden = !!visit && visit.page.isHidden();
      note(`${name} → ${ids.map((id) => ledger.fates.get(id)?.name ?? id).join(', ')}`);
      if (visit && visit.consent !== 'granted') {
        violate('consent', `${name} sends, and consent is ${visit.consent}`);
      }
      if (ledger.isFallback(attempt)) return;
      watchCap(name, ids);
      penalties.started(name, destination, attempt.isHidden && witness.resends);
    },
    onTaken: ({ page, destination }) => penalties.took(page, destination),
    onWait: (name, destination, seconds) => {
      if (now() - (visitOf(name)?.thawedAt ?? -Infinity) < THAWING_MS) return;
      penalties.asked(name, destination, seconds);
    },
  });

  return {
    timeline,
    now,
    clock,
    dice: createDice(seed, 'world'),
    trace,
    note,
    violate,
    state,
    visits,
    visitOf,
    kinds,
    isStoring,
    /** It could store records of the destination at that time, and has been able to since then. */
    hasStoredSince: (name: string, destination: string, time: number): boolean =>
      isStoring(name, destination) && kinds.get(name)!.get(destination)!.since < time,
    departures,
    trouble,
    conditions,
    faults,
    verdicts,
    ledger,
    disk,
    storage,
    network,
    penalties,
    killed: (name: string): void => void kills.set(name, now()),
    /** The page is frozen, or put into the back/forward cache. */
    paused: (name: string, isCached: boolean): void => {
      const pause = { from: now(), to: Infinity, isCached, stored: storedBy(name) };
      pauses.set(name, [...(pauses.get(name) ?? []), pause]);
    },
    /** The page goes on. */
    resumed: (name: string): void => {
      for (const pause of pauses.get(name) ?? []) pause.to = Math.min(pause.to, now());
    },
    /** When it was put into the back/forward cache since then. */
    cachingsSince: (name: string, time: number): number[] =>
      (pauses.get(name) ?? [])
        .filter(({ from, isCached }) => isCached && from >= time)
        .map(({ from }) => from),
    /** What is wrong with storage is over, or gives way to something else. */
    endTrouble: (): void => {
      if (trouble.hangs || trouble.slow > 0) state.lastSlow = now();
      faults.end('database');
    },
    isTroubled: (): boolean =>
      trouble.aborts > 0 ||
      trouble.hangs ||
      trouble.refuses ||
      trouble.slow > 0 ||
      state.isShelfFull,
  };
};

export type World = ReturnType<typeof createWorld>;
