/**
 * Puts one fault after another into the real code, and says by which seed the simulator finds it.
 *
 *     npm run simulate-mutants -- --seeds 1000
 */
import { parseArgs } from 'node:util';
import { bundleProduct } from './bundle.js';
import { MUTANTS } from './mutants.js';
import type { Product } from './page.js';
import { drawScenario } from './scenario.js';
import { runScenario } from './world.js';

const { values } = parseArgs({
  options: { seeds: { type: 'string', default: '1000' }, only: { type: 'string', default: '' } },
});

/** The first seed that breaks an invariant, and which. */
const find = async (product: Product, seeds: number): Promise<[number, string] | undefined> => {
  for (let seed = 1; seed <= seeds; seed++) {
    const { violation } = await runScenario(drawScenario(seed), product);
    if (violation) return [seed, violation.invariant];
  }
  return undefined;
};

let caught = 0;
const chosen = MUTANTS.filter(({ name }) => name.includes(values.only));
for (const { name, ...mutation } of chosen) {
  const found = await find(await bundleProduct(mutation), Number(values.seeds));
  if (found) caught++;
  const words = found ? `seed ${found[0]}`.padEnd(10) + found[1] : 'NOT FOUND';
  console.log(`${name.padEnd(60)} ${words}`);
}
console.log(`${caught} of ${chosen.length} caught within ${values.seeds} seeds`);
process.exitCode = caught === chosen.length ? 0 : 1;
