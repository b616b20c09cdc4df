import { expect, test } from 'vitest';
import { createDice } from '../../lab/random.js';
import { BROKE } from '../../lab/simulation/broke.js';
import { bundleProduct } from '../../lab/simulation/bundle.js';
import { EXPECTED, isExpected } from '../../lab/simulation/expected.js';
import { drawScenario } from '../../lab/simulation/draw-scenario.js';
import { MUTANTS, mutationOf } from '../../lab/simulation/mutants.js';
import { runScenario } from '../../lab/simulation/run-scenario.js';
import type { Action, Scenario, Setup } from '../../lab/simulation/scenario.js';
import { createSum } from '../../lab/simulation/tally.js';

const SEEDS = 500;
/** In parts, so that a break names its neighbourhood, and a loaded machine its progress. */
const PART = 100;

const product = bundleProduct();
const excuses = createSum();
const overused = (sum: typeof excuses) =>
  sum.lines().flatMap(({ excuse, isOverused }) => (isOverused ? [excuse] : []));

for (let from = 1; from <= SEEDS; from += PART) {
  test(`seeds ${from} to ${from + PART - 1} break no invariant`, { timeout: 300_000 }, async () => {
    const broken: string[] = [];
    for (let seed = from; seed < from + PART; seed++) {
      const { violation, tally } = await runScenario(drawScenario(seed), await product);
      if (violation && !isExpected(seed, violation.invariant))
        broken.push(`npm run simulate -- --seed ${seed}: ${violation.message}`);
      excuses.add(tally);
    }
    expect(broken).toEqual([]);
  });
}

test('no excuse is used too often in these worlds', () => {
  expect(overused(excuses)).toEqual([]);
});

test.each(Object.keys(EXPECTED).map(Number))('seed %i breaks as expected', async (seed) => {
  const { violation } = await runScenario(drawScenario(seed), await product);
  expect(violation).toBeDefined();
  expect(isExpected(seed, violation!.invariant)).toBe(true);
});

test('what broke once does not break again', { timeout: 300_000 }, async () => {
  for (const seed of BROKE) {
    if (seed in EXPECTED) continue;
    const { violation } = await runScenario(drawScenario(seed), await product);
    expect({ seed, violation }).toEqual({ seed, violation: undefined });
  }
});

test('a seed makes the same world each time', async () => {
  const [first, second] = [
    await runScenario(drawScenario(7), await product, true),
    await runScenario(drawScenario(7), await product, true),
  ];
  expect(second.trace).toEqual(first.trace);
  expect(first.records).toBeGreaterThan(0);
});

test('what is drawn for one purpose does not depend on another', () => {
  expect(createDice(1, 'a').next()).not.toBe(createDice(1, 'b').next());
  expect(createDice(1, 'a').next()).toBe(createDice(1, 'a').next());
});

/** A world in which just this happens. */
const scenarioOf = (
  actions: Action[],
  seed = 1,
  engine: Setup['engine'] = 'chromium',
): Scenario => ({
  seed,
  setup: {
    engine,
    way: 'direct',
    hasIdleCallback: true,
    hasNoShelf: false,
    options: {},
  },
  actions,
});

const call = (at: number, count: number): Action => ({
  at,
  do: 'call',
  page: 0,
  calls: Array.from({ length: count }, (_, i) => ({
    type: 'event' as const,
    name: `e${i}`,
    user: undefined,
  })),
});

test('the judge fails when worlds use an excuse too often', async () => {
  const sum = createSum();
  for (let seed = 1; seed <= 50; seed++) {
    const killed = scenarioOf(
      [
        { at: 0, do: 'open' },
        call(100, 10),
        { at: 100, do: 'kill', page: 0, after: 0 },
        { at: 200, do: 'open' },
      ],
      seed,
    );
    const { violation, tally } = await runScenario(killed, await product);
    expect(violation).toBeUndefined();
    sum.add(tally);
  }
  expect(overused(sum)).toEqual(['lost: its page was killed before it could be stored']);
});

/** localStorage is full, the clock jumps, and a page is killed with requests in flight. */
const FAULTS_MEET = scenarioOf([
  { at: 0, do: 'open' },
  { at: 50, do: 'service', mode: 'hangs' },
  call(100, 5),
  { at: 2_000, do: 'shelf', isFull: true },
  { at: 2_000, do: 'clock', by: 600_000 },
  { at: 2_001, do: 'kill', page: 0, after: 0 },
  { at: 3_000, do: 'open' },
]);

test('storage faults that meet lose nothing without a word', async () => {
  const { violation, records } = await runScenario(FAULTS_MEET, await product);
  expect({ violation, records }).toEqual({ violation: undefined, records: 5 });
});

test('the judge fails when something is lost without a word as storage faults meet', async () => {
  const mutant = MUTANTS.find(({ name }) => name === 'forget to say unknown')!;
  const silent = await bundleProduct(mutationOf(mutant));
  const { violation } = await runScenario(FAULTS_MEET, silent);
  expect(violation?.invariant).toBe('kept');
});

/** Which losses were excused in worlds like this one, drawn by so many seeds. None may break an invariant. */
const lossesIn = async (
  actions: Action[],
  { seeds = 1, engine }: { seeds?: number; engine?: Setup['engine'] } = {},
): Promise<string[]> => {
  const used = new Set<string>();
  for (let seed = 1; seed <= seeds; seed++) {
    const scenario = scenarioOf(actions, seed, engine);
    const { violation, tally } = await runScenario(scenario, await product);
    expect({ seed, violation }).toEqual({ seed, violation: undefined });
    for (const excuse of Object.keys(tally.used)) if (excuse.startsWith('lost')) used.add(excuse);
  }
  return [...used];
};

const OFFLINE: Action = { at: 0, do: 'network', isOnline: false };
const killedElsewhere = (...storage: Action[]): Action[] => [
  ...storage,
  { at: 0, do: 'open' },
  { at: 100, do: 'storage', trouble: 'none' },
  call(200, 3),
  { at: 300, do: 'destination', page: 0 },
  { at: 500, do: 'kill', page: 0, after: 0 },
];

test('a page may be killed with what only its memory had, though its other destination has a database', async () => {
  const lost = await lossesIn(killedElsewhere({ at: 0, do: 'storage', trouble: 'refuses' }));
  expect(lost).toEqual(['lost: its page was killed while it had no database']);
});

test('nothing is lost there where the database of each destination works', async () => {
  expect(await lossesIn(killedElsewhere())).toEqual([]);
});

/** Firefox may lose what a page writes into localStorage as it goes, where its database is open by then. */
const leftSoon = (calledAt: number): Action[] => [
  { at: 0, do: 'open' },
  call(calledAt, 3),
  { at: calledAt + 4, do: 'leave', page: 0 },
];

test.each([
  ['as its database opens', 5],
  ['later', 500],
])('nothing is lost with the note of a page that is left soon after a call, %s', async (_, at) => {
  expect(await lossesIn(leftSoon(at), { seeds: 60, engine: 'firefox' })).toEqual([]);
});

/** It leaves in the moment at which the other one is told, so it has not heard of it. */
const noted = (...denial: Action[]): Action[] => [
  OFFLINE,
  { at: 0, do: 'storage', trouble: 'hangs' },
  { at: 0, do: 'open' },
  { at: 0, do: 'open' },
  call(2_000, 3),
  { at: 2_100, do: 'leave', page: 0 },
  ...denial,
];

test('what a leaving page has noted as consent was denied is removed by others', async () => {
  const denied: Action = { at: 2_100, do: 'consent', page: 1, consent: 'denied' };
  expect(await lossesIn(noted(denied))).toEqual(['lost: consent was withdrawn']);
});

test('what a leaving page has noted is not lost otherwise', async () => {
  expect(await lossesIn(noted())).toEqual([]);
});

const cached = (...fullShelf: Action[]): Action[] => [
  OFFLINE,
  { at: 0, do: 'open' },
  ...fullShelf,
  { at: 200, do: 'storage', trouble: 'aborts' },
  call(200, 3),
  { at: 200, do: 'cache', page: 0 },
  { at: 300, do: 'evict', page: 0 },
];

test('a page may go into the back/forward cache while both stores fail', async () => {
  const lost = await lossesIn(cached({ at: 100, do: 'shelf', isFull: true }), { seeds: 10 });
  expect(lost).toEqual(['lost: its page left while both stores failed']);
});

test('nothing is lost by a page in the back/forward cache where localStorage works', async () => {
  expect(await lossesIn(cached(), { seeds: 10 })).toEqual([]);
});
