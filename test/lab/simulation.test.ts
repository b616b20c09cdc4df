import { expect, test } from 'vitest';
import { BROKE } from '../../lab/simulation/broke.js';
import { bundleProduct } from '../../lab/simulation/bundle.js';
import { createDice } from '../../lab/random.js';
import { drawScenario } from '../../lab/simulation/scenario.js';
import { runScenario } from '../../lab/simulation/world.js';

const SEEDS = 500;
/** In parts, so that a break names its neighbourhood, and a loaded machine its progress. */
const PART = 100;

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
