import type { Product } from './page.js';
import { drawScenario } from './scenario.js';
import { runScenario } from './world.js';

/** The first of so many seeds that breaks an invariant, and which. */
export const findBreak = async (
  product: Product,
  seeds: number,
): Promise<[seed: number, invariant: string] | undefined> => {
  for (let seed = 1; seed <= seeds; seed++) {
    const { violation } = await runScenario(drawScenario(seed), product);
    if (violation) return [seed, violation.invariant];
  }
  return undefined;
};
