/**
 * Puts one fault after another into the real code, and says by which seed the simulator finds it.
 *
 *     npm run simulate-mutants -- --seeds 5000
 */
import { parseArgs } from 'node:util';
import { bundleProduct } from './bundle.js';
import { findBreak } from './find-break.js';
import { MUTANTS, mutationOf } from './mutants.js';

const { values } = parseArgs({
  options: { seeds: { type: 'string', default: '5000' }, only: { type: 'string', default: '' } },
});

let caught = 0;
const chosen = MUTANTS.filter(({ name }) => name.includes(values.only));
for (const mutant of chosen) {
  const found = await findBreak(await bundleProduct(mutationOf(mutant)), Number(values.seeds));
  if (found) caught++;
  const words = found ? `seed ${found[0]}`.padEnd(10) + found[1] : 'NOT FOUND';
  console.log(`${mutant.name.padEnd(60)} ${words}`);
}
console.log(
  `${caught} of ${chosen.length} caught within ${values.seeds} seeds and those that broke once`,
);
process.exitCode = caught === chosen.length ? 0 : 1;
