import fc from 'fast-check';
import type { Trouble } from './indexed-db.js';
import type { Action, Call, Fault, Scenario, Setup } from './scenario.js';
import { SILENT, TRUTHFUL, type ServiceMode } from './service.js';

/** What worlds of a family are made of. */
export interface Kind {
  ways: Setup['way'][];
  /** @default all */
  engines?: Setup['engine'][];
  /** Pages and browsers are killed. */
  kills?: boolean;
  /** The browser loses what was written last into localStorage as it is killed. */
  crashes?: boolean;
  /** Pages stand still, and others take what they have. */
  stands?: boolean;
  faults?: { least: number; most: number; of: ('storage' | 'shelf' | 'clock' | 'clear')[] };
}

const HOUR_MS = 3_600_000;

const between = (min: number, max: number) => fc.integer({ min, max });
const page = between(0, 3);
const rarely = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 3 });

const gap = fc.oneof(
  { weight: 3, arbitrary: fc.constant(0) },
  { weight: 5, arbitrary: between(1, 12) },
  { weight: 6, arbitrary: between(5, 400) },
  { weight: 5, arbitrary: between(400, 8_000) },
  { weight: 2, arbitrary: between(8_000, 90_000) },
  { weight: 1, arbitrary: between(90_000, 600_000) },
);

/** Most leases end after a minute. */
const still = fc.oneof(between(0, 10_000), between(10_000, 200_000));

const call: fc.Arbitrary<Call> = fc.record({
  isEvent: fc.oneof({ weight: 7, arbitrary: fc.constant(true) }, fc.constant(false)),
  user: fc.option(fc.constantFrom('ada', 'bob'), { nil: undefined, freq: 1 }),
  isBad: fc.integer({ min: 0, max: 49 }).map((n) => n === 49),
  isDisliked: fc.integer({ min: 0, max: 19 }).map((n) => n === 19),
});
const EVENT: Call = { isEvent: true, user: undefined, isBad: false, isDisliked: false };
const calls = fc.oneof(
  { weight: 9, arbitrary: fc.array(call, { minLength: 1, maxLength: 4 }) },
  { weight: 1, arbitrary: fc.array(call, { minLength: 10, maxLength: 45, size: 'max' }) },
);

const callTo = (page: fc.Arbitrary<number>) =>
  fc.record({ do: fc.constant('call' as const), page, calls });
const callFirst = (calls: fc.Arbitrary<Call[]>) =>
  fc.record({ do: fc.constant('call' as const), page: fc.constant(0), calls });

const setupOf = ({
  ways,
  engines = ['chromium', 'firefox', 'webkit'],
}: Kind): fc.Arbitrary<Setup> =>
  fc.record({
    engine: fc.constantFrom(...engines),
    way: fc.constantFrom(...ways),
    hasIdleCallback: fc.boolean(),
    options: fc
      .record({
        flushAt: rarely(between(1, 5)),
        flushInterval: rarely(fc.constantFrom(10, 200, 5_000)),
        concurrency: rarely(between(1, 3)),
        timeout: rarely(fc.constantFrom(2_000, 10_000)),
        maxRecords: rarely(between(8, 30)),
        maxBytes: rarely(between(600, 3_000)),
        maxAge: rarely(between(5 * 60_000, HOUR_MS)),
      })
      .map((all) => JSON.parse(JSON.stringify(all)) as Record<string, number>),
  });

const actionOf = (kind: Kind, modes: readonly ServiceMode[]): fc.Arbitrary<Action> => {
  const weighted: [weight: number, action: fc.Arbitrary<Action>][] = [
    [36, callTo(page)],
    [6, fc.constant({ do: 'open' })],
    [9, fc.record({ do: fc.constantFrom('leave', 'navigate'), page })],
    [6, fc.record({ do: fc.constantFrom('hide', 'show'), page })],
    [5, fc.record({ do: fc.constantFrom('flush', 'reset', 'destination'), page })],
    [2, fc.record({ do: fc.constant('pause consent'), page, ms: between(0, 20_000) })],
    [5, fc.record({ do: fc.constant('service'), mode: fc.constantFrom(...modes) })],
    [4, fc.constant({ do: 'service', mode: 'well' })],
    [3, fc.record({ do: fc.constant('network'), isOnline: fc.boolean() })],
    [1, fc.record({ do: fc.constant('budget'), isTaken: fc.boolean() })],
    [1, fc.constant({ do: 'token' })],
  ];
  if (kind.stands)
    weighted.push(
      [4, fc.record({ do: fc.constant('freeze'), page, ms: still })],
      [4, fc.record({ do: fc.constant('cache'), page, ms: still, isEvicted: fc.boolean() })],
    );
  if (kind.kills)
    weighted.push(
      [5, fc.record({ do: fc.constant('kill'), page, after: between(0, 12) })],
      [
        2,
        fc.record({
          do: fc.constant('kill browser'),
          losesMs: kind.crashes ? between(0, 1_500) : fc.constant(0),
        }),
      ],
    );
  return fc.oneof(...weighted.map(([weight, arbitrary]) => ({ weight, arbitrary })));
};

type Step = Scenario['actions'][number];
const after = (gap: fc.Arbitrary<number>, action: fc.Arbitrary<Action>): fc.Arbitrary<Step> =>
  fc.record({ gap, action });
const at = (mode: ServiceMode) => fc.constant({ do: 'service' as const, mode });

/** A page stands still with what it could not send, until others may take it. */
const takeover = fc.tuple(
  after(gap, at('error')),
  after(gap, callTo(page)),
  after(
    between(500, 5_000),
    fc.record({ do: fc.constant('freeze' as const), page, ms: between(100_000, 200_000) }),
  ),
  after(between(0, 60_000), fc.constant({ do: 'open' as const })),
  after(between(0, 60_000), at('well')),
  after(between(60_000, 200_000), callTo(page)),
);

const cacheFirst = (ms: fc.Arbitrary<number>) =>
  fc.record({
    do: fc.constant('cache' as const),
    page: fc.constant(0),
    ms,
    isEvicted: fc.constant(false),
  });

/** A page comes back and is called at once, before it has claimed what it could not send. */
const back = fc.tuple(
  after(gap, at('error')),
  after(between(0, 2_000), callTo(fc.constant(0))),
  after(between(0, 2_000), cacheFirst(fc.constant(1_000))),
  after(fc.constant(1_001), at('well')),
  after(between(0, 3), callTo(fc.constant(0))),
  after(fc.constant(0), fc.constant({ do: 'flush' as const, page: 0 })),
);

/** A page comes back while another one has what it could not send, and is called again. */
const comeback = fc.tuple(
  after(gap, at('error')),
  after(between(0, 2_000), callTo(fc.constant(0))),
  after(between(0, 2_000), cacheFirst(between(2_000, 10_000))),
  after(between(0, 2_000), fc.constant({ do: 'open' as const })),
  after(between(5_000, 15_000), at('well')),
  after(between(0, 10), callTo(fc.constant(0))),
);

/** The network comes and goes while the service has asked for a wait. */
const flicker = fc.tuple(
  after(gap, at('busy')),
  after(gap, callTo(page)),
  after(between(1_000, 5_000), fc.constant({ do: 'network' as const, isOnline: false })),
  after(between(0, 1_000), fc.constant({ do: 'network' as const, isOnline: true })),
);

/** A page is killed between two requests that it starts at the same time. */
const killed = fc.tuple(
  after(gap, at('well')),
  after(gap, callFirst(fc.array(fc.constant(EVENT), { minLength: 2, maxLength: 4 }))),
  after(
    between(3, 9),
    fc.record({ do: fc.constant('kill' as const), page: fc.constant(0), after: between(1, 2) }),
  ),
);

/** A page in trouble is left right after a call: what it has just kept is in its note alone, if the engine is WebKit. */
const left = fc.tuple(
  after(gap, at('error')),
  after(between(0, 2_000), callTo(fc.constant(0))),
  after(between(500, 3_000), callTo(fc.constant(0))),
  after(
    between(0, 2),
    fc.record({ do: fc.constantFrom('leave' as const, 'navigate' as const), page: fc.constant(0) }),
  ),
);

/** A page is left with a record that has a trouble of its own, which the next page takes over. */
const inherited = fc.tuple(
  after(gap, at('well')),
  after(gap, callFirst(fc.constant([{ ...EVENT, isDisliked: true }, EVENT]))),
  after(between(1_000, 5_000), callFirst(fc.constant([EVENT]))),
  after(
    between(2_000, 20_000),
    fc.record({ do: fc.constant('navigate' as const), page: fc.constant(0) }),
  ),
);

const stepsOf = (kind: Kind, modes: readonly ServiceMode[]): fc.Arbitrary<Step[]> => {
  const one = fc.tuple(after(gap, actionOf(kind, modes)));
  const scenes: fc.Arbitrary<Step[]>[] = [flicker, left, inherited];
  if (kind.stands) scenes.push(takeover, comeback, back);
  if (kind.kills) scenes.push(killed, killed);
  const few = scenes.map((arbitrary) => ({ weight: 1, arbitrary }));
  return fc
    .array(fc.oneof({ weight: 20, arbitrary: one }, ...few), {
      minLength: 4,
      maxLength: 25,
      size: 'max',
    })
    .map((scenes) => scenes.flat());
};

const trouble: fc.Arbitrary<Partial<Trouble>> = fc.oneof(
  fc.record({ aborts: between(1, 4) }),
  fc.constant({ hangs: true }),
  fc.constant({ refuses: true }),
  fc.record({ slow: fc.constantFrom(20, 300, 900) }),
);
const FAULTS = {
  storage: fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('storage' as const), trouble }) },
    fc.constant({ do: 'close storage' as const }),
  ),
  shelf: fc.constant({ do: 'full shelf' as const }),
  clock: fc.record({
    do: fc.constant('clock' as const),
    by: fc.oneof(
      between(-2_000, 2_000),
      between(-70_000, 70_000),
      between(-3 * HOUR_MS, 3 * HOUR_MS),
    ),
  }),
  clear: fc.constant({ do: 'clear' as const }),
};

const faultsOf = ({ faults }: Kind): fc.Arbitrary<Fault[]> => {
  if (!faults) return fc.constant([]);
  const fault = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    lasts: fc.oneof(between(1, 5_000), between(5_000, 200_000)),
    what: fc.oneof(...faults.of.map((name) => FAULTS[name])),
  });
  return fc.array(fault, { minLength: faults.least, maxLength: faults.most });
};

/** Draws what happens in a world of a family. */
export const worldOf = (kind: Kind): fc.Arbitrary<Scenario> =>
  setupOf(kind).chain((setup) => {
    const modes = setup.way === 'direct' ? TRUTHFUL : [...TRUTHFUL, ...SILENT];
    return fc.record({
      seed: fc.nat(),
      setup: fc.constant(setup),
      actions: stepsOf(kind, modes),
      faults: faultsOf(kind),
      ending: fc.constantFrom('visit', 'visit', 'visit', 'visit', 'denial'),
    });
  });
