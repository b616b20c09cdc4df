import { BROKE } from './broke.js';
import type { Product } from './page.js';
import { drawScenario } from './draw-scenario.js';
import { runScenario } from './run-scenario.js';

/** The first of so many seeds that breaks an invariant, and which; those that broke once come last. */
export const findBreak = async (
  product: Product,
  seeds: number,
): Promise<[seed: number, invariant: string] | undefined> => {
  for (const seed of [...Array.from({ length: seeds }, (_, i) => i + 1), ...BROKE]) {
    const { violation } = await runScenario(drawScenario(seed), product);
    if (violation) return [seed, violation.invariant];
  }
  return undefined;
};
