import { expect, test } from 'vitest';
import { bundleProduct } from './bundle.js';
import { createDice } from './random.js';
import { drawScenario } from './scenario.js';
import { runScenario } from './world.js';

const SEEDS = 500;
/** In parts, so that a break names its neighbourhood, and a loaded machine its progress. */
const PART = 100;

/** Beyond those: what broke once. */
const BROKE = [
  952, 3542, 9458, 28049, 58064, 74151, 91286, 93205, 1607, 1718, 1952, 2165, 2172, 2351, 2690,
  2883, 3205, 3415, 3452, 4139, 4215, 4259, 4323, 4863, 4961, 4969, 5211, 6032, 6184, 6325, 6453,
  6942, 7052, 8340, 8797, 8991, 9023, 9024, 9090, 10868, 12223, 12297, 14149, 16555, 18395, 19677,
  20414, 21716, 22750, 26351, 26978, 28981, 29904, 50424, 51056, 51183, 51586, 52010, 200319,
  300166, 300764, 300942, 302020, 305277, 4028, 11574, 16049, 56100, 23333, 55164, 23806, 90976,
  93830, 63764, 18186,
];

const product = bundleProduct();

for (let from = 1; from <= SEEDS; from += PART) {
  test(`seeds ${from} to ${from + PART - 1} break no invariant`, { timeout: 300_000 }, async () => {
    const broken: string[] = [];
    for (let seed = from; seed < from + PART; seed++) {
      const { violation } = await runScenario(drawScenario(seed), await product);
      if (violation) broken.push(`npm run simulate -- --seed ${seed}: ${violation.message}`);
    }
    expect(broken).toEqual([]);
  });
}

test('what broke once does not break again', { timeout: 300_000 }, async () => {
  for (const seed of BROKE) {
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
