/** `npm run rates`: how many of so many runs survive leaving, closing and killing, for each engine. */
import { parseArgs } from 'node:util';
import { ENGINE_NAMES, type Engine, type EngineName } from './engine.js';
import { inParallel } from './in-parallel.js';
import { endEngine, endSoon } from './limited.js';
import { openEngine } from './open-engine.js';
import { publish } from './publish.js';
import { RATES } from './rate-kinds.js';
import { builtNow, today, type Rate } from './results.js';
import { ROWS } from './rows/all.js';
import { controlRows } from './rows/control.js';
import { brokenRun, runRow } from './run-row.js';
import { wilson } from './wilson.js';

// Playwright would close the browsers and go on: runs that broke off by that are no results.
process.on('SIGTERM', () => process.exit(143));

const { values } = parseArgs({
  options: {
    engines: { type: 'string', default: ENGINE_NAMES.join(',') },
    only: { type: 'string', default: RATES.map(({ id }) => id).join(',') },
    runs: { type: 'string', default: '200' },
    jobs: { type: 'string', default: '4' },
    /** Adds to what earlier runs of the same version came to. */
    add: { type: 'boolean', default: false },
  },
});

const measure = async (engine: Engine, id: string): Promise<Rate> => {
  const row = [...ROWS, ...controlRows].find((row) => row.id === id);
  if (!row) throw new Error(`No row is called ${id}`);
  const results = await inParallel(Number(values.runs), Number(values.jobs), () =>
    runRow(engine, row, { looksAtManners: false }).catch(brokenRun),
  );
  const wrong = results.flatMap((result) => result.wrong ?? []);
  return {
    survived: results.length - wrong.length,
    runs: results.length,
    withUnknown: results.filter(({ fates }) => fates.unknown > 0).length,
    wrong: [...new Set(wrong)],
    version: engine.version,
    date: today(),
    build: builtNow(),
  };
};

const addRates = (one: Rate | undefined, other: Rate): Rate =>
  !one || !values.add || one.version !== other.version
    ? other
    : {
        ...other,
        survived: one.survived + other.survived,
        runs: one.runs + other.runs,
        withUnknown: one.withUnknown + other.withUnknown,
        wrong: [...new Set([...one.wrong, ...other.wrong])],
      };

for (const name of values.engines.split(',') as EngineName[]) {
  const engine = await openEngine(name);
  for (const id of values.only.split(',')) {
    const rate = await measure(engine, id);
    await publish(({ rates }) => {
      rates[id] = { ...rates[id], [name]: addRates(rates[id]?.[name], rate) };
    });
    const [low, high] = wilson(rate.survived, rate.runs).map((share) => (share * 100).toFixed(1));
    console.log(`${name} ${id}: ${rate.survived} of ${rate.runs} (95 %: ${low} to ${high} %)`);
    if (rate.wrong.length) console.log(`    ${rate.wrong.join('\n    ')}`);
  }
  await endEngine(engine);
}
endSoon();
