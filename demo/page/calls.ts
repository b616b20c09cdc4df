/** What became of the calls that this demo has seen, by the page's account and by the service's rows. */

export interface Fate {
  kind: 'called' | 'waiting' | 'in flight' | 'again' | 'delivered' | 'unknown' | 'dropped';
  /** Reason of a drop, status of an answer. */
  detail?: string | undefined;
  /** Milliseconds since the epoch. */
  at: number;
}

export interface Call {
  /** Travels as `demo_id` in the tags or properties, so that its row can be found. */
  id: string;
  type: 'event' | 'identify';
  /** Name of the event, or the user id. */
  name: string;
  at: number;
  /** The scene in which it was made. */
  scene: number;
  fate: Fate;
  attempts: number;
  /** When its rows arrived at the service: none, one, or too many. */
  rows: readonly number[];
}

export const DEMO_ID = 'demo_id';

/** The `demo_id` in the body of a record or of a row. */
export const demoIdIn = (body: unknown): string | undefined => {
  const { tags, properties } = body as Record<'tags' | 'properties', Record<string, unknown>>;
  const id = (tags ?? properties)?.[DEMO_ID];
  return typeof id === 'string' ? id : undefined;
};

/**
 * `lost` and `twice` are what must not be: the page was told that the service has the record, and the service does not;
 * or the service has it more than once.
 */
export type Verdict = 'once' | 'waiting' | 'dropped' | 'unknown' | 'lost' | 'twice';

/** @param readAt when the last complete look at the service's rows began */
export const verdictOf = ({ fate, rows }: Call, readAt: number): Verdict => {
  if (rows.length > 1) return 'twice';
  if (rows.length === 1) return 'once';
  if (fate.kind === 'dropped' || fate.kind === 'unknown') return fate.kind;
  return fate.kind === 'delivered' && readAt > fate.at ? 'lost' : 'waiting';
};

export type Tally = Readonly<Record<Verdict | 'called', number>>;

export const tallyOf = (calls: readonly Call[], readAt: number): Tally => {
  const tally = { called: calls.length, once: 0, waiting: 0, dropped: 0, unknown: 0 };
  const wrong = { lost: 0, twice: 0 };
  const all = { ...tally, ...wrong };
  for (const call of calls) all[verdictOf(call, readAt)]++;
  return all;
};

/** The sentence that always adds up, without what must not be. */
export const sentenceOf = ({ called, once, waiting, dropped, unknown, lost, twice }: Tally) => {
  if (!called) return 'Nothing called yet';
  const parts = [
    (once || called === waiting) && `${once} stored once`,
    waiting && `${waiting} on the way`,
    dropped && `${dropped} dropped`,
    unknown && `${unknown} unknown`,
    lost && `${lost} lost`,
    twice && `${twice} stored twice`,
  ];
  return `${called} called = ${parts.filter(Boolean).join(' + ') || '0 stored once'}`;
};

export type Station = 'page' | 'outbox' | 'wire' | 'service';

/** Where a record is, as far as anybody knows. */
export const stationOf = ({ fate, rows, attempts }: Call): Station => {
  if (rows.length) return 'service';
  if (fate.kind === 'called' || (fate.kind === 'dropped' && !attempts)) return 'page';
  return fate.kind === 'waiting' || fate.kind === 'again' ? 'outbox' : 'wire';
};

export const createCalls = (now: () => number = Date.now) => {
  const calls = new Map<string, Call>();
  const visit = now().toString(36).slice(-5) + Math.floor(Math.random() * 46_656).toString(36);
  let made = 0;
  let scene = 0;
  /** Rows of records that were called before this page knew of them. */
  const early = new Map<string, number[]>();

  const change = (id: string, changed: Partial<Call>): void => {
    const call = calls.get(id);
    if (call) calls.set(id, { ...call, ...changed });
  };

  return {
    newId: (): string => `${visit}-${++made}`,
    add: (id: string, type: Call['type'], name: string): void => {
      if (calls.has(id)) return;
      const at = now();
      const rows = early.get(id) ?? [];
      calls.set(id, { id, type, name, at, scene, rows, fate: { kind: 'called', at }, attempts: 0 });
    },
    setFate: (
      id: string,
      kind: Fate['kind'],
      more: { detail?: string; attempts?: number } = {},
    ) => {
      const { detail, attempts } = more;
      change(id, {
        fate: { kind, detail, at: now() },
        ...(attempts !== undefined && { attempts }),
      });
    },
    /** The service has stored a row of the call. */
    store: (id: string, at: number): void => {
      const rows = [...(calls.get(id)?.rows ?? early.get(id) ?? []), at];
      if (calls.has(id)) change(id, { rows });
      else early.set(id, rows);
    },
    all: (): Call[] => [...calls.values()],
    /** Begins another scene, whose calls can be told apart. Returns its number. */
    beginScene: (): number => ++scene,
    forget: (): void => calls.clear(),
  };
};

export type Calls = ReturnType<typeof createCalls>;
