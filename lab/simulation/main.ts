/**
 * Simulates worlds full of faults around the real code, one a seed.
 *
 *     npm run simulate -- --seeds 1000 --from 1     so many worlds
 *     npm run simulate -- --seed 42                 one, with all that happens in it
 *
 * Ends with an error if a world breaks an invariant, or an excuse is used too often.
 */
import { parseArgs } from 'node:util';
import { bundleProduct } from './bundle.js';
import { EXPECTED, isExpected } from './expected.js';
import { drawScenario } from './draw-scenario.js';
import { runScenario } from './run-scenario.js';
import { shrink } from './shrink.js';
import { createSum, inWords } from './tally.js';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    /** Breaks that are shrunk and shown; the others are only counted. */
    show: { type: 'string', default: '3' },
  },
});

const product = await bundleProduct();

const showOne = async (seed: number) => {
  const scenario = drawScenario(seed);
  const { violation, trace } = await runScenario(scenario, product, true);
  console.log(`${JSON.stringify(scenario.setup)}\n${trace.join('\n')}`);
  process.exitCode = violation ? 1 : 0;
};

const showBreak = async (seed: number, invariant: string) => {
  const fewest = await shrink(drawScenario(seed), product, invariant);
  const { violation, trace } = await runScenario(fewest, product, true);
  console.log(`\nseed ${seed} breaks \`${violation!.invariant}\`: ${violation!.message}`);
  console.log(`  ${JSON.stringify(fewest.setup)}\n${trace.map((line) => `  ${line}`).join('\n')}`);
  console.log(`  whole: npm run simulate -- --seed ${seed}\n`);
};

const showAll = async (from: number, count: number, show: number) => {
  const started = performance.now();
  const broken = new Map<string, number[]>();
  /** Seeds that were expected to break. */
  const healed: number[] = [];
  const excuses = createSum();
  let steps = 0;
  let records = 0;
  for (let seed = from; seed < from + count; seed++) {
    const result = await runScenario(drawScenario(seed), product);
    steps += result.steps;
    records += result.records;
    excuses.add(result.tally);
    const invariant = result.violation?.invariant ?? '';
    if (isExpected(seed, invariant) || (!invariant && !(seed in EXPECTED))) continue;
    if (!invariant) {
      healed.push(seed);
      continue;
    }
    const seeds = broken.get(invariant) ?? [];
    broken.set(invariant, [...seeds, seed]);
    if (seeds.length < show) await showBreak(seed, invariant);
  }
  const rate = count / ((performance.now() - started) / 1_000);
  console.log(
    `${count} seeds from ${from}, ${records} records, ${steps} steps: ${rate.toFixed(0)} seeds/s`,
  );
  console.log('\nexcuse, and how much of what its check looked at it was used for:');
  const lines = excuses.lines();
  for (const line of lines) console.log(`  ${inWords(line)}`);
  console.log();
  for (const [invariant, seeds] of broken) {
    console.log(`broken: ${invariant}, ${seeds.length} seeds: ${seeds.slice(0, 20).join(' ')}`);
  }
  if (broken.size === 0) console.log('none breaks an invariant, but those that are expected to');
  if (healed.length > 0)
    console.log(`no longer broken, take out of expected.ts: ${healed.join(' ')}`);
  const isExcusedTooOften = lines.some(({ isOverused }) => isOverused);
  process.exitCode = broken.size + healed.length > 0 || isExcusedTooOften ? 1 : 0;
};

if (values.seed !== undefined) await showOne(Number(values.seed));
else await showAll(Number(values.from), Number(values.seeds), Number(values.show));
