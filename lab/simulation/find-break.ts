import { BROKE } from './broke.js';
import { EXPECTED } from './expected.js';
import type { Product } from './page.js';
import { drawScenario } from './draw-scenario.js';
import { runScenario } from './run-scenario.js';

/** The first seed whose world breaks an invariant, and which. After this many seeds it tries those that broke once. */
export const findBreak = async (
  product: Product,
  seeds: number,
): Promise<[seed: number, invariant: string] | undefined> => {
  for (const seed of [...Array.from({ length: seeds }, (_, i) => i + 1), ...BROKE]) {
    if (seed in EXPECTED) continue;
    const { violation } = await runScenario(drawScenario(seed), product);
    if (violation) return [seed, violation.invariant];
  }
  return undefined;
};
