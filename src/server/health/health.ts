import { readDelays, type TargetDelay } from '../exports/delays.js';
import type { Count, Room, Store } from '../store/port.js';
import type { StoreSink, Storing } from '../store-sink.js';
import { createArrivals } from './arrivals.js';
import { worstOf, type Arriving } from './arriving.js';
import type { Outages } from './outages.js';
import type { RefusedCounter, RefusedHealth } from './refused-counter.js';

/** What a token of one project is told. */
export interface ProjectHealth {
  /** `failing`: rows are not stored. */
  status: 'ok' | 'failing';
  /** The name of the process that says all this. It speaks for no other one, except where all read the same database. */
  process: string;
  storing: Storing;
  arriving: Arriving;
}

/** Whether anything is wrong, as one process of a service sees it. */
export interface Health extends ProjectHealth {
  storing: Storing & { room?: Room };
  refused: RefusedHealth;
  /** Targets of exports and notifications, and the service that rows are passed on to. */
  targets: readonly TargetDelay[];
}

interface Parts {
  store: Pick<Store, 'rows' | 'hours' | 'counts' | 'room' | 'lastPlace' | 'progress'>;
  sink: Pick<StoreSink, 'storing' | 'problem'>;
  refused: Pick<RefusedCounter, 'readUsual' | 'health'>;
  outages: Pick<Outages, 'since'>;
  name: string;
  now: () => number;
}

/** How old the answers of the database may be: of all rows, and of one project, whose newest row costs more. */
const [FRESH_MS, PROJECT_FRESH_MS] = [1_500, 10_000];
/** How many refusals are usual changes slowly. */
const USUAL_FRESH_MS = 600_000;
/** Of so many projects, those with the most rows, each is judged among all. Strangers may invent any number. */
const MAX_PROJECTS = 10;
/** An answer of the database is not waited for any longer. What was known before is said then. */
const PATIENCE_MS = 1_000;

/** A value that is read anew if it is older than this. If it cannot be read, the last one stays. */
const createKnown = <Value>(
  first: Value,
  read: () => Promise<Value>,
  { freshMs, now }: { freshMs: number; now: () => number },
) => {
  let value = first;
  let readAt = -Infinity;
  let reading: Promise<void> | undefined;
  const look = async (): Promise<void> => {
    try {
      value = await read();
    } catch {
      // The database does not answer, which is said elsewhere.
    } finally {
      [readAt, reading] = [now(), undefined];
    }
  };
  return {
    value: (): Value => value,
    refresh: (): Promise<void> | undefined =>
      reading ?? (Math.abs(now() - readAt) < freshMs ? undefined : (reading = look())),
  };
};

/** The projects with the most rows. One that is alone is judged with all rows. */
const largestOf = (counts: readonly Count[]): string[] => {
  const rows = new Map<string, number>();
  for (const one of counts) rows.set(one.project, (rows.get(one.project) ?? 0) + one.rows);
  const sorted = [...rows].sort(([, a], [, b]) => b - a).map(([project]) => project);
  return sorted.length > 1 ? sorted.slice(0, MAX_PROJECTS) : [];
};

/**
 * Says whether anything is wrong. It answers whether the database does or not: what the database says is read beside it,
 * and only while somebody asks.
 */
export const createHealth = ({ store, sink, refused, outages, name, now }: Parts) => {
  const storing = createKnown<unknown>(undefined, async () => sink.problem(), {
    freshMs: FRESH_MS,
    now,
  });
  const room = createKnown(undefined, () => store.room(), { freshMs: FRESH_MS, now });
  const targets = createKnown<readonly TargetDelay[]>([], () => readDelays(store, now()), {
    ...{ freshMs: FRESH_MS, now },
  });
  const usual = createKnown<number | undefined>(undefined, refused.readUsual, {
    ...{ freshMs: USUAL_FRESH_MS, now },
  });
  const arrivingOf = (project?: string) =>
    createKnown<Arriving>({ state: 'unknown' }, createArrivals({ store, now }, project), {
      ...{ freshMs: project === undefined ? FRESH_MS : PROJECT_FRESH_MS, now },
    });
  const arriving = arrivingOf();
  const largest = createKnown<string[]>([], async () => largestOf(await store.counts()), {
    ...{ freshMs: PROJECT_FRESH_MS, now },
  });
  /** Those with the most rows, and those that have a token of their own. */
  const ofProjects = new Map<string, typeof arriving>();

  const known = (project?: string): typeof arriving => {
    if (project === undefined) return arriving;
    const own = ofProjects.get(project) ?? arrivingOf(project);
    ofProjects.set(project, own);
    return own;
  };
  const projects = {
    value: () => largest.value().map((project) => ({ ...known(project).value(), project })),
    refresh: async (): Promise<void> => {
      await largest.refresh();
      await Promise.all(largest.value().map((project) => known(project).refresh()));
    },
  };
  const refresh = (project?: string): Promise<unknown> => {
    const ofAll = project === undefined ? [room, targets, usual, projects] : [];
    return Promise.all([storing, known(project), ...ofAll].map((one) => one.refresh()));
  };
  const say = (project?: string): ProjectHealth | Health => {
    const { problem, ...state } = sink.storing();
    // An outage may have begun before this process.
    const since = problem === undefined ? undefined : outages.since();
    if (since !== undefined) state.since = since;
    const status = problem === undefined ? 'ok' : 'failing';
    const own = { status, process: name } as const;
    // The words of the database name places of this machine.
    if (project !== undefined) return { ...own, storing: state, arriving: known(project).value() };
    const free = room.value();
    return {
      ...own,
      arriving: worstOf(arriving.value(), projects.value()),
      storing: { ...state, ...(problem !== undefined && { problem }), ...(free && { room: free }) },
      refused: refused.health(usual.value()),
      targets: targets.value(),
    };
  };

  return {
    /** What is known after the database was asked, which is waited for a second. */
    ask: async (project?: string): Promise<ProjectHealth | Health> => {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, PATIENCE_MS)));
      await Promise.race([refresh(project), late]);
      clearTimeout(timer);
      return say(project);
    },
  };
};

export type HealthWord = ReturnType<typeof createHealth>;
