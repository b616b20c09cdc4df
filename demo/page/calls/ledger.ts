import type { DemoCall, Fate, KnownCall } from './call.js';

/** Calls kept in all; the oldest visits go first. */
const MOST = 2_000;

interface Visit {
  calls: DemoCall[];
  fates: Record<string, Fate>;
}

/** Storage that does not throw. */
export interface LedgerStorage {
  get: (key: string) => string | undefined;
  set: (key: string, value: string) => boolean | undefined;
  remove: (key: string) => void;
  keys: () => string[];
}

interface Effects {
  storage: LedgerStorage;
  /** Begins the keys of all visits to one database. */
  prefix: string;
  /** Name of this page load; later ones sort later. */
  visit: string;
  now: () => number;
}

const SETTLED: readonly Fate['kind'][] = ['delivered', 'dropped', 'unknown'];

/**
 * Remembers the calls of all tabs and visits. Each visit writes a key of its own, so that tabs cannot
 * overwrite each other.
 */
export const createLedger = ({ storage, prefix, visit, now }: Effects) => {
  let own: Visit = { calls: [], fates: {} };
  let others = new Map<string, Visit>();
  let version = 0;
  const keyOf = (name: string) => `${prefix} ${name}`;

  const load = (key: string): Visit | undefined => {
    try {
      return JSON.parse(storage.get(key) ?? 'null') as Visit | undefined;
    } catch {
      return undefined; // not ours, or torn
    }
  };

  /** Where storage is blocked or full, the calls of this page are in memory all the same. */
  const store = (key: string, { calls, fates }: Visit): void => {
    const isEmpty = calls.length === 0 && Object.keys(fates).length === 0;
    if (isEmpty) storage.remove(key);
    else storage.set(key, JSON.stringify({ calls, fates }));
  };

  const readOthers = (): void => {
    const visits = storage
      .keys()
      .filter((key) => key.startsWith(prefix) && key !== keyOf(visit))
      .sort()
      .map((key) => [key, load(key)] as const);
    others = new Map(visits.filter((pair): pair is [string, Visit] => pair[1] !== undefined));
    version++;
  };

  /** Makes room: whole visits, the oldest first. */
  const prune = (): void => {
    let count = 0;
    for (const [key, { calls }] of [...others].reverse()) {
      count += calls.length;
      if (count <= MOST) continue;
      others.delete(key);
      storage.remove(key);
    }
  };

  const save = (): void => store(keyOf(visit), own);

  const withoutSettled = ({ calls, fates }: Visit, all: Map<string, Fate>): Visit => {
    const open = calls.filter(({ id }) => !SETTLED.includes(all.get(id)?.kind ?? 'called'));
    const kept = open.map(({ id }) => [id, fates[id]] as const);
    return { calls: open, fates: Object.fromEntries(kept.filter(([, fate]) => fate)) as never };
  };

  const fates = (): Map<string, Fate> => {
    const latest = new Map<string, Fate>();
    for (const visit of [...others.values(), own]) {
      for (const [id, fate] of Object.entries(visit.fates)) {
        if (fate.at >= (latest.get(id)?.at ?? 0)) latest.set(id, fate);
      }
    }
    return latest;
  };

  readOthers();
  prune();

  return {
    /** Written at once: the page may be left in the same task. */
    add: (calls: readonly DemoCall[]): void => {
      own.calls.push(...calls);
      if (own.calls.length > MOST) own.calls.splice(0, own.calls.length - MOST);
      version++;
      save();
    },
    /** Not written until `save`: there may be many. */
    setFate: (id: string, kind: Fate['kind'], detail?: string): void => {
      own.fates[id] = { kind, at: now(), ...(detail !== undefined && { detail }) };
      version++;
    },
    /** What this page knows of a call. */
    fateOf: (id: string): Fate | undefined => own.fates[id],
    save,
    /** All calls with what is known of them, the newest first. */
    all: (): KnownCall[] => {
      const known = fates();
      return [...others.values(), own]
        .flatMap(({ calls }) => calls)
        .map((call) => ({ ...call, fate: known.get(call.id) ?? { kind: 'called', at: call.at } }))
        .reverse() // of one millisecond, the last is the newest
        .sort((a, b) => b.at - a.at) as KnownCall[];
    },
    /** Forgets what has come to its end; what still waits will yet be seen to arrive. */
    forgetSettled: ({ everywhere }: { everywhere: boolean }): void => {
      const known = fates();
      own = withoutSettled(own, known);
      save();
      if (everywhere) {
        for (const [key, other] of others) store(key, withoutSettled(other, known));
      }
      readOthers();
    },
    /** Forgets everything. Another tab that is open writes again what it knows of its own. */
    forgetAll: (): void => {
      own = { calls: [], fates: {} };
      for (const key of storage.keys()) if (key.startsWith(prefix)) storage.remove(key);
      readOthers();
    },
    /** Another tab has written. */
    readOthers,
    /** Changes whenever `all` would. */
    version: (): number => version,
  };
};

export type Ledger = ReturnType<typeof createLedger>;
