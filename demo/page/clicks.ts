/** What became of the clicks of this demo. Each goes two ways to the service, and the rows of the service count. */

/** `without`: a bare keepalive `fetch`. `with`: the outbox. */
export type Lane = 'without' | 'with';
export const LANES: readonly Lane[] = ['without', 'with'];

export interface End {
  as: 'answered' | 'dropped' | 'unknown';
  /** No row comes later. Milliseconds since the epoch. */
  at: number;
}

/** One of the two ways of a click. */
interface Copy {
  /** How many rows of it the service has. */
  rows: number;
  end?: End;
}

export interface Click {
  id: string;
  /** The scene that made it; undefined for one that was made by hand. */
  scene: string | undefined;
  lanes: Readonly<Record<Lane, Copy>>;
}

/** The tags or properties by which a row is found again: which click, and which way it came. */
export const DEMO_ID = 'demo_id';
export const LANE = 'demo_lane';

/** Which click a record or row belongs to, and which way it came; undefined if this demo has not made it. */
export const markIn = (body: unknown): { id: string; lane: Lane } | undefined => {
  const { tags, properties } = body as Record<'tags' | 'properties', Record<string, unknown>>;
  const { [DEMO_ID]: id, [LANE]: lane } = tags ?? properties ?? {};
  const isOurs = typeof id === 'string' && LANES.includes(lane as Lane);
  return isOurs ? { id, lane: lane as Lane } : undefined;
};

/**
 * `lost` and `twice` are what must not be: nobody sends the click any more, and the service does not have it; or the
 * service has it more than once.
 */
export type Verdict = 'stored' | 'waiting' | 'dropped' | 'unknown' | 'lost' | 'twice';

/** @param readAt when the last complete look at the service's rows began */
export const verdictOf = ({ lanes }: Click, lane: Lane, readAt: number): Verdict => {
  const { rows, end } = lanes[lane];
  if (rows) return rows > 1 ? 'twice' : 'stored';
  if (!end || readAt <= end.at) return 'waiting';
  return end.as === 'answered' ? 'lost' : end.as;
};

export type Tally = Readonly<Record<Verdict, number>>;

export const tallyOf = (clicks: readonly Click[], lane: Lane, readAt: number): Tally => {
  const tally = { stored: 0, waiting: 0, dropped: 0, unknown: 0, lost: 0, twice: 0 };
  for (const click of clicks) tally[verdictOf(click, lane, readAt)]++;
  return tally;
};

export const createClicks = () => {
  let clicks: readonly Click[] = [];
  const visit = Math.random().toString(36).slice(2, 10);
  let made = 0;

  const change = (id: string, lane: Lane, changed: (copy: Copy) => Partial<Copy>): void => {
    clicks = clicks.map((click) => {
      if (click.id !== id) return click;
      const copy = click.lanes[lane];
      return { ...click, lanes: { ...click.lanes, [lane]: { ...copy, ...changed(copy) } } };
    });
  };

  return {
    /** Counts a click before it is made. Returns its id. */
    add: (scene?: string): string => {
      const id = `${visit}-${++made}`;
      clicks = [...clicks, { id, scene, lanes: { without: { rows: 0 }, with: { rows: 0 } } }];
      return id;
    },
    end: (id: string, lane: Lane, end: End): void => change(id, lane, () => ({ end })),
    /** The service has stored a row of the click. */
    store: (id: string, lane: Lane): void => change(id, lane, ({ rows }) => ({ rows: rows + 1 })),
    all: () => clicks,
    forget: (): void => void (clicks = []),
  };
};
