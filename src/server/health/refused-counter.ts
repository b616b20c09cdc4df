import type { Refused, RefusedCount, Store } from '../store/port.js';
import { HOUR_MS, hourOf } from './arriving.js';

/** Answers that have refused a request or a record. Each record of a batch has an answer of its own. */
export interface RefusedHealth {
  /** `many`: far more than usual. */
  state: 'usual' | 'many' | 'unknown';
  /** Of this process in the last hour, or since its start. */
  last_hour: number;
  /** Since when that is, if the process has run for less than an hour. */
  since?: string;
  /** In an hour of the last seven days, of all processes. */
  usual?: number;
}

interface Parts {
  store: Pick<Store, 'addRefused' | 'refusedHours' | 'counts'>;
  /** Projects that the options name. */
  projects: readonly string[];
  now: () => number;
}

type Key = [hour: number, project: string, reason: Refused['reason']];

const MINUTE_MS = 60_000;
const FLUSH_MS = 1_000;
/** Names of projects are texts of strangers, who may invent many. Beyond so many keys at a time and an hour, projects are not told apart. */
const MAX_KEYS = 500;
/** How often projects with rows are read anew, if an unknown one is named. */
const PROJECTS_MS = 60_000;
const DAYS = 7;
/** More than this, and so many times as many as usual, are many. */
const [MANY, TIMES] = [12, 3];

/**
 * Counts all that is refused, at the door and in memory. What was counted is written once a second by one statement, so a
 * flood costs no more than that, and a process that is killed loses a second.
 */
export const createRefusedCounter = ({ store, projects, now }: Parts) => {
  const startedAt = now();
  const named = new Set(projects);
  let withRows = new Set<string>();
  let readAt = -Infinity;
  /** What is not written yet, by hour, project and reason, as JSON. */
  let counts = new Map<string, number>();
  /** The keys of an hour that name a project. */
  const keys = { hour: 0, of: new Set<string>() };
  let timer: ReturnType<typeof setTimeout> | undefined;
  let writing: Promise<void> = Promise.resolve();
  /** How many there were in each of the last 60 minutes. */
  const minutes = new Map<number, number>();

  const add = (to: Map<string, number>, key: Key, n: number): void => {
    const text = JSON.stringify(key);
    to.set(text, (to.get(text) ?? 0) + n);
  };
  const isKnown = (project: string): boolean => named.has(project) || withRows.has(project);
  const readProjects = async (): Promise<void> => {
    if (Math.abs(now() - readAt) < PROJECTS_MS) return;
    readAt = now();
    withRows = new Set((await store.counts()).map(({ project }) => project));
  };
  /** Whether a project has counts of its own in this hour. */
  const isApart = ([hour, project, reason]: Key): boolean => {
    if (!isKnown(project)) return false;
    if (keys.hour !== hour) Object.assign(keys, { hour, of: new Set() });
    const key = JSON.stringify([project, reason]);
    return keys.of.has(key) || (keys.of.size < MAX_KEYS && keys.of.add(key).size > 0);
  };

  const flush = async (): Promise<void> => {
    if (!counts.size) return;
    const taken = [...counts].map(([key, n]) => [JSON.parse(key) as Key, n] as const);
    counts = new Map();
    try {
      if (taken.some(([[, project]]) => project && !isKnown(project))) await readProjects();
      const sums = new Map<string, number>();
      for (const [key, n] of taken) {
        const [hour, project, reason] = key;
        add(sums, [hour, isApart(key) ? project : '', reason], n);
      }
      await store.addRefused(
        [...sums].map(([key, n]) => {
          const [hour, project, reason] = JSON.parse(key) as Key;
          return { hour: new Date(hour * HOUR_MS).toISOString(), project, reason, n };
        }),
      );
    } catch {
      // The database does not work, which is said elsewhere. They are written with the next ones.
      for (const [key, n] of taken) add(counts, key, n);
      schedule();
    }
  };
  /** Writes what was counted. */
  const write = (): Promise<void> => (writing = writing.then(flush));
  const schedule = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      void write();
    }, FLUSH_MS);
    // On Node it keeps no process alive.
    (timer as { unref?: () => void }).unref?.();
  };
  const lastHour = (): number => {
    const first = Math.floor(now() / MINUTE_MS) - 59;
    for (const minute of minutes.keys()) if (minute < first) minutes.delete(minute);
    return [...minutes.values()].reduce((sum, n) => sum + n, 0);
  };

  return {
    count: (reason: Refused['reason'], project: string): void => {
      const minute = Math.floor(now() / MINUTE_MS);
      minutes.set(minute, (minutes.get(minute) ?? 0) + 1);
      const isRoom = counts.size < MAX_KEYS;
      add(counts, [hourOf(now()), isRoom ? project : '', reason], 1);
      schedule();
    },
    /** How many there were, by hour and reason. All that this process has counted is in it. */
    read: async (filter: Parameters<Store['refusedHours']>[0]): Promise<RefusedCount[]> => {
      await write();
      return store.refusedHours(filter);
    },
    /** How many are usual in an hour, of all processes. */
    readUsual: async (): Promise<number> => {
      const hour = hourOf(now());
      const [from, to] = [hour - DAYS * 24, hour].map((at) => new Date(at * HOUR_MS).toISOString());
      const hours = await store.refusedHours({ from: from!, to: to! });
      return hours.reduce((sum, { n }) => sum + n, 0) / (DAYS * 24);
    },
    health: (usual: number | undefined): RefusedHealth => {
      const n = lastHour();
      const isMany = n > Math.max(MANY, TIMES * (usual ?? 0));
      const isYoung = now() - startedAt < HOUR_MS;
      return {
        state: usual === undefined ? 'unknown' : isMany ? 'many' : 'usual',
        last_hour: n,
        ...(isYoung && { since: new Date(startedAt).toISOString() }),
        ...(usual !== undefined && { usual: Math.round(usual * 10) / 10 }),
      };
    },
    end: async (): Promise<void> => {
      await write();
      clearTimeout(timer);
    },
  };
};

export type RefusedCounter = ReturnType<typeof createRefusedCounter>;
