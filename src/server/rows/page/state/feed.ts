import type { SetupState } from '../../../setup.js';
import type { Looked, Refused, RefusedCount, Row } from '../../../store/port.js';
import type { Erasure } from '../../../store/progress.js';
import { connect, type Connection } from './connection.js';
import { isStoring, type HealthWord } from './health.js';
import { NO_FILTERS, queryOf, readFilters, type Filters } from './filters.js';
import {
  addOlder,
  arrive,
  bringIn,
  NO_ROWS,
  withoutErased,
  type Arrival,
  type KeptRows,
} from './kept-rows.js';
import { forgetAnswers } from './answers.js';
import { createRate, type Rate } from './rate.js';
import type { ServerEvent } from './read-events.js';
import { addSeen, NOTHING_SEEN, type Seen } from './seen.js';
import {
  readAllRefused,
  readCounts,
  readHealth,
  readOlder,
  readRefusedHours,
  readRow,
  resend,
  type Resent,
} from './service.js';

export const TABS = ['overview', 'rows', 'users', 'refused'] as const;
export type Tab = (typeof TABS)[number];

/** A user of a project. */
export interface Person {
  project: string;
  user: string;
}

/** Why the feed stands still. It flows when there is no reason left. */
export type Reason = 'button' | 'scroll' | 'open' | 'focus' | 'pointer' | 'menu';

export interface FeedState {
  tab: Tab;
  /** Whom the tab `users` shows; the list of users without one. */
  person: Person | undefined;
  /** The event whose panel is open in the overview. */
  panel: string | undefined;
  filters: Filters;
  connection: Connection;
  /** What the service says of itself; undefined while it does not answer. */
  health: HealthWord | undefined;
  /** The first rows for these filters have come. Until then those of the last filters are shown. */
  isReady: boolean;
  kept: KeptRows;
  older: 'idle' | 'loading' | 'failed' | 'stopped';
  /** How far the rows below the last one that is shown were looked through. */
  looked: (Looked & { below: number | undefined }) | undefined;
  /** The row that is open. */
  openSeq: number | undefined;
  /** Rows that have just come, few enough to be pointed out. */
  fresh: ReadonlySet<number>;
  /** Newest first. */
  refused: readonly Refused[];
  /** There may be more than these. */
  hasMoreRefused: boolean;
  /** How many answers have refused something in the last 30 days; undefined until they are read. */
  refusedHours: readonly RefusedCount[] | undefined;
  resent: ReadonlyMap<number, Resent | 'sending' | 'failed'>;
  setup: SetupState | undefined;
  /** The only project that the reader's token reads. Such a token sends nothing again, and hears of no setup. */
  onlyProject: string | undefined;
  rate: Rate;
  /** Rows in the whole store. They are counted as the page opens, and while no row is shown. */
  total: number | undefined;
  seen: Seen;
}

/** The feed begins with so many rows. */
const FIRST_ROWS = 200;
const FIRST_REFUSED = 50;
const OLDER_ROWS = 200;
/** The service keeps at most so many of the refused. Dead letters are counted apart. */
const MAX_REFUSED = 1000;
const MAX_DEAD = 10_000;
/** The service sends at most so many again in one request. */
const MAX_RESENT = 1000;
/** Refused answers are counted anew so often at the most. */
const COUNTED_MS = 1_000;
/** What comes is shown so often, in one go. */
const FRAME_MS = 200;
/** More at a time would flicker. */
const MAX_FRESH = 12;

/** Those of the refused that the service still keeps. */
const asKept = (refused: readonly Refused[]): readonly Refused[] => {
  let [dead, others] = [0, 0];
  return refused.filter(({ isDead }) => (isDead ? ++dead <= MAX_DEAD : ++others <= MAX_REFUSED));
};

export type Feed = ReturnType<typeof createFeed>;

/** What the address of the page names: a tab, and a user or the filters. */
type Place = Pick<FeedState, 'tab' | 'person' | 'panel' | 'filters'>;
const readAddress = (query: string): Place => {
  const given = new URLSearchParams(query);
  const tab = TABS.find((name) => name === given.get('show')) ?? 'rows';
  const panel = given.get('panel') ?? undefined;
  if (tab !== 'users') return { tab, person: undefined, panel, filters: readFilters(query) };
  const [project, user] = [given.get('project'), given.get('user')];
  const person = project && user ? { project, user } : undefined;
  return { tab, person, panel, filters: NO_FILTERS };
};

const addressOf = ({ tab, person, panel, filters }: Place) => {
  const query = tab === 'users' ? new URLSearchParams({ ...person }) : queryOf(filters);
  if (tab !== 'rows') query.set('show', tab);
  if (panel !== undefined) query.set('panel', panel);
  return query.size ? `?${query}` : location.pathname;
};

export const createFeed = () => {
  /** By so much the clock of the service is ahead. */
  let ahead = 0;
  const now = (): number => Date.now() + ahead;

  let state: FeedState = {
    ...readAddress(location.search),
    ...{ connection: { kind: 'opening' }, isReady: false, kept: NO_ROWS, older: 'idle' },
    ...{ openSeq: undefined, fresh: new Set(), refused: [], hasMoreRefused: false },
    ...{ resent: new Map(), setup: undefined, rate: createRate(), total: undefined },
    ...{ onlyProject: undefined, health: undefined, refusedHours: undefined, looked: undefined },
    seen: NOTHING_SEEN,
  };
  const listeners = new Set<() => void>();
  const set = (change: Partial<FeedState>): void => {
    state = { ...state, ...change };
    for (const listener of listeners) listener();
  };

  const reasons = new Set<Reason>();
  const isHeld = (): boolean => reasons.size > 0;

  let queue: ServerEvent[] = [];
  let frame: ReturnType<typeof setTimeout> | undefined;
  let lastFrame = 0;
  const onEvent = (event: ServerEvent): void => {
    if (event.name === 'replaced') return startOver();
    queue.push(event);
    frame ??= setTimeout(show, Math.max(0, lastFrame + FRAME_MS - performance.now()));
  };

  /** Rows and refusals that came before `ready`. */
  let first: Arrival[] = [];

  const show = (): void => {
    const events = queue;
    [queue, frame, lastFrame] = [[], undefined, performance.now()];
    const change: Partial<FeedState> = {};
    const rows: Row[] = [];
    let arrived: Arrival[] = [];
    const refused: Refused[] = [];
    const erased: Erasure[] = [];
    for (const { name, data } of events) {
      if (name === 'row') {
        const row = JSON.parse(data) as Row;
        rows.push(row);
        arrived.push({ row, size: data.length });
      }
      if (name === 'refused') refused.push(JSON.parse(data) as Refused);
      if (name === 'erased') erased.push(JSON.parse(data) as Erasure);
      if (name === 'health') change.health = JSON.parse(data) as HealthWord;
      if (name === 'setup') change.setup = JSON.parse(data) as SetupState;
      if (name === 'ready' && !state.isReady && !change.isReady) {
        const ready = JSON.parse(data) as { onlyProject?: string; looked?: Looked };
        change.onlyProject = ready.onlyProject;
        Object.assign(change, begin([...first, ...arrived], ready.looked));
        [first, arrived] = [[], []];
      }
    }
    if (state.isReady || change.isReady) {
      Object.assign(change, goOn(arrived, change.kept));
      Object.assign(change, goWithout(erased, change.kept));
    } else first.push(...arrived);
    const counted = state.health?.refused?.last_hour;
    set({ ...change, ...withRefused(refused), seen: addSeen(state.seen, rows) });
    if (refused.length || state.health?.refused?.last_hour !== counted) countRefused();
    if (!change.isReady) return;
    readRest();
    if (!state.kept.shown.length) countRows();
    if (state.kept.shown.length < FIRST_ROWS) void loadOlder();
  };

  let counting: ReturnType<typeof setTimeout> | undefined;
  const countRefused = (waitMs = COUNTED_MS): void => {
    counting ??= setTimeout(() => {
      counting = undefined;
      readRefusedHours({}).then(
        (refusedHours) => set({ refusedHours }),
        () => undefined, // The tab says that they are not counted yet.
      );
    }, waitMs);
  };

  const countRows = (): void => {
    readCounts().then(
      (counts) =>
        set({
          total: counts.reduce((sum, { rows }) => sum + rows, 0),
          seen: addSeen(state.seen, counts),
        }),
      () => undefined, // The line says what is wrong.
    );
  };

  /** The first rows are there: they take the place of those for other filters. */
  const begin = (backlog: readonly Arrival[], found?: Looked): Partial<FeedState> => {
    const isAll = found ? found.is_all : backlog.length < FIRST_ROWS;
    const looked = found && { ...found, below: backlog[0]?.row.seq };
    const rate = createRate();
    for (const { row } of backlog) rate.count(Date.parse(row.received_at));
    const kept = arrive({ ...NO_ROWS, hasOlder: !isAll }, backlog, { isHeld: false });
    return { isReady: true, kept, looked, rate, fresh: new Set(), older: 'idle' };
  };

  const goOn = (arrived: readonly Arrival[], kept = state.kept): Partial<FeedState> => {
    if (!arrived.length) return {};
    const newest = (kept.waiting[0] ?? kept.shown[0])?.row.seq ?? -Infinity;
    const added = arrived.filter(({ row }) => row.seq > newest);
    for (const { row } of added) state.rate.count(Date.parse(row.received_at));
    const isFew = added.length <= MAX_FRESH && !isHeld();
    return {
      kept: arrive(kept, arrived, { isHeld: isHeld() }),
      ...(added.length ? { fresh: new Set(isFew ? added.map(({ row }) => row.seq) : []) } : {}),
    };
  };

  const goWithout = (erased: readonly Erasure[], kept = state.kept): Partial<FeedState> => {
    if (!erased.length) return {};
    forgetAnswers();
    const left = withoutErased(kept, erased);
    const isOpen = left.shown.some(({ row }) => row.seq === state.openSeq);
    if (!isOpen) reasons.delete('open');
    return { kept: isHeld() ? left : bringIn(left), openSeq: isOpen ? state.openSeq : undefined };
  };

  const withRefused = (added: readonly Refused[]): Partial<FeedState> => {
    if (!added.length) return {};
    const newest = state.refused[0]?.seq ?? -Infinity;
    const fresh = added.filter(({ seq }) => seq > newest).reverse();
    const isFull = !state.refused.length && fresh.length >= FIRST_REFUSED;
    return {
      refused: asKept([...fresh, ...state.refused]),
      hasMoreRefused: state.hasMoreRefused || isFull,
    };
  };

  /** The feed is about to begin from nothing. What is shown stays until it has. */
  const forget = (): void => {
    [queue, first] = [[], []];
    reasons.delete('open');
    set({
      isReady: false,
      refused: [],
      hasMoreRefused: false,
      openSeq: undefined,
      total: undefined,
      older: 'idle',
    });
  };

  /** The service has another store than before the break, which counts from 1 again. */
  const startOver = (): void => {
    forget();
    set({ resent: new Map() });
  };

  const feedQuery = (): URLSearchParams => {
    const query = queryOf(state.filters);
    query.set('format', 'sse');
    query.set('brief', '1');
    return query;
  };
  const line = connect({
    url: () => `rows?${feedQuery()}`,
    onEvent,
    onChange: (connection) => {
      const { kind } = connection;
      const isAnswered = kind === 'lost' && connection.status !== undefined;
      // Nothing is known by now. What was wrong is most likely still wrong.
      const isGone = kind === 'silent' || (kind === 'lost' && !isAnswered);
      set({ connection, ...(isGone && isStoring(state.health) && { health: undefined }) });
      // The feed may fail because the database does, and then the service still says so.
      if (isAnswered) void readHealth().then((health) => set({ health }));
    },
    onServerTime: (ms) => {
      // The header tells whole seconds.
      ahead = Math.abs(ms - Date.now()) > 2000 ? ms - Date.now() : 0;
    },
  });

  const restart = (): void => {
    forget();
    line.restart();
  };

  /** The stream begins with the newest refused only. Reads all of them while a tab is open that shows them. */
  const readRest = (): void => {
    const isShown = state.tab === 'refused' || state.tab === 'overview';
    if (!isShown || !state.hasMoreRefused) return;
    readAllRefused().then(
      (all) => {
        const newest = all[0]?.seq ?? -Infinity;
        const later = state.refused.filter(({ seq }) => seq > newest);
        set({ refused: [...later, ...all], hasMoreRefused: false });
      },
      () => undefined, // The tab says that there are more.
    );
  };

  /** How many searches have begun or were stopped: the last one alone goes on. */
  let searches = 0;
  /** Loads rows below those that are shown: goes on looking until there are enough, none is left, or somebody stops it. */
  const loadOlder = async (): Promise<void> => {
    if (state.older === 'loading' || !state.kept.hasOlder || !state.isReady) return;
    set({ older: 'loading' });
    const [query, run] = [queryOf(state.filters), ++searches];
    const isOver = () =>
      run !== searches || `${query}` !== `${queryOf(state.filters)}` || !state.isReady;
    let left = OLDER_ROWS;
    try {
      while (left > 0 && state.kept.hasOlder) {
        const { kept, looked } = state;
        const below = kept.shown.at(-1)?.row.seq;
        const isKnown = looked && (looked.below === below || looked.below === undefined);
        const found = await readOlder(query, isKnown ? looked.place : below, left);
        if (isOver()) return;
        const batch = found.rows.map((row) => ({ row, size: JSON.stringify(row).length }));
        const hasOlder = !found.looked.is_all;
        const added = addOlder(state.kept, batch, { before: below, hasOlder });
        if (added === state.kept) break;
        set({ kept: added, looked: { ...found.looked, below: added.shown.at(-1)?.row.seq } });
        left -= batch.length;
      }
      set({ older: 'idle' });
    } catch {
      if (!isOver()) set({ older: 'failed' });
    }
  };

  const release = (): void => {
    if (!isHeld()) set({ kept: bringIn(state.kept), fresh: new Set() });
  };

  return {
    now,
    state: (): FeedState => state,
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    start(): void {
      line.restart();
      // The feed begins with rows, for which a database that stands still is waited for.
      void readHealth().then((health) => state.health ?? set({ health }));
      countRows();
      countRefused(0);
    },
    retry: line.retry,
    /**
     * A hidden page closes its connection: a browser has six for all tabs of an origin, so with more tabs requests would
     * wait for ever.
     */
    setHidden(isHidden: boolean): void {
      const { kind } = state.connection;
      if (isHidden && kind !== 'locked') line.sleep();
      if (!isHidden && kind === 'asleep') line.retry();
    },

    isHeld,
    holds: (reason: Reason): boolean => reasons.has(reason),
    /** Stops the feed, or takes this reason away. */
    hold(reason: Reason, isOn: boolean): void {
      if (reasons.has(reason) === isOn) return;
      if (isOn) reasons.add(reason);
      else reasons.delete(reason);
      if (isOn) set({});
      else release();
    },
    /** Brings in what waits, and lets the feed flow again. */
    bring(): void {
      reasons.clear();
      set({ openSeq: undefined });
      release();
    },

    open(seq: number | undefined): void {
      set({ openSeq: seq });
      if (seq === undefined) {
        reasons.delete('open');
        release();
        return;
      }
      reasons.add('open');
      // It may have come again since it was shown.
      readRow(seq).then(
        (row) => {
          if (!row) return;
          const again = { row, size: JSON.stringify(row).length };
          set({ kept: arrive(state.kept, [again], { isHeld: true }) });
        },
        () => undefined, // The row stays as it was.
      );
    },

    loadOlder,
    stopSearch(): void {
      searches++;
      set({ older: 'stopped' });
    },

    /** `step`: one can come back to what was before by the browser's button. Typing makes no steps. */
    filter(filters: Filters, { step = true }: { step?: boolean } = {}): void {
      const isSame = `${queryOf(filters)}` === `${queryOf(state.filters)}`;
      if (isSame && state.tab === 'rows') return;
      // Filters are of rows. The newest are on top.
      if (state.tab !== 'rows') scrollTo({ top: 0 });
      const next = { tab: 'rows', person: undefined, panel: undefined, filters } as const;
      history[step ? 'pushState' : 'replaceState'](null, '', addressOf(next));
      set(next);
      if (!isSame) restart();
    },
    /** `person`: whom the tab `users` shows. `panel`: the event that the overview shows. */
    choose(tab: Tab, person?: Person, panel?: string): void {
      if (tab === state.tab && person === state.person && panel === state.panel) return;
      const next = { tab, person, panel, filters: state.filters };
      history.pushState(null, '', addressOf(next));
      set(next);
      readRest();
    },
    /** The address has changed, by the browser's buttons. */
    readAddress(): void {
      const next = readAddress(location.search);
      const isSame = `${queryOf(next.filters)}` === `${queryOf(state.filters)}`;
      set(next);
      if (isSame) readRest();
      else restart();
    },

    async resend(seqs: readonly number[]): Promise<void> {
      const mark = (entries: readonly (readonly [number, Resent | 'sending' | 'failed'])[]) =>
        set({ resent: new Map([...state.resent, ...entries]) });
      mark(seqs.map((seq) => [seq, 'sending'] as const));
      for (let at = 0; at < seqs.length; at += MAX_RESENT) {
        const some = seqs.slice(at, at + MAX_RESENT);
        try {
          const results = new Map((await resend(some)).map((result) => [result.seq, result]));
          mark([...results]);
          // Those without a result are gone: another page has sent them again, or they were erased.
          const gone = new Set(some.filter((seq) => !results.has(seq)));
          set({ refused: state.refused.filter(({ seq }) => !gone.has(seq)) });
        } catch {
          mark(some.map((seq) => [seq, 'failed'] as const));
        }
      }
    },
  };
};
