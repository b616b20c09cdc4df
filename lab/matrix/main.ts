/** `npm run matrix`: each row of the promise in real browsers, counted in the service's database. */
import { parseArgs } from 'node:util';
import { ENGINE_NAMES, type Engine, type EngineName } from './engine.js';
import { addFates, NO_FATES } from './fates.js';
import { endEngine, endSoon } from './limited.js';
import { openEngine } from './open-engine.js';
import { publish } from './publish.js';
import { builtNow, today, type Cell } from './results.js';
import { DEFAULT_RUNS, type Row } from './row.js';
import { ROWS } from './rows/all.js';
import { brokenRun, runRow, type RunResult } from './run-row.js';
import { inParallel } from './in-parallel.js';

// Playwright would close the browsers and go on: runs that broke off by that are no results.
process.on('SIGTERM', () => process.exit(143));

const { values } = parseArgs({
  options: {
    engines: { type: 'string', default: ENGINE_NAMES.join(',') },
    only: { type: 'string' },
    runs: { type: 'string' },
    jobs: { type: 'string', default: '3' },
  },
});

const chosenRows = (): readonly Row[] => {
  const wanted = values.only?.split(',');
  const unknown = wanted?.find((id) => !ROWS.some((row) => row.id === id));
  if (unknown)
    throw new Error(`No row is called ${unknown}: ${ROWS.map(({ id }) => id).join(', ')}`);
  return wanted ? ROWS.filter(({ id }) => wanted.includes(id)) : ROWS;
};

const cellOf = (results: readonly RunResult[], { version }: Engine): Cell => {
  const unique = (list: readonly (string | undefined)[]) => [
    ...new Set(list.filter((entry) => entry !== undefined)),
  ];
  const tolds = results.flatMap(({ manners }) => (manners.longTasks ? [manners.longTasks] : []));
  const tries = results.flatMap(({ manners: { isCached } }) => isCached ?? []);
  const bare = results.flatMap(({ manners: { isBareCached } }) => isBareCached ?? []);
  return {
    runs: results.length,
    failed: results.filter(({ wrong }) => wrong !== undefined).length,
    fates: results.map(({ fates }) => fates).reduce(addFates, NO_FATES),
    wrong: unique(results.map(({ wrong }) => wrong)),
    problems: unique(results.flatMap(({ manners }) => manners.problems)),
    longTasks: {
      count: tolds.flat().length,
      runs: tolds.length,
      longest: Math.round(Math.max(0, ...tolds.flat())),
    },
    cached: {
      yes: tries.filter(Boolean).length,
      tried: tries.length,
      bareYes: bare.filter(Boolean).length,
      bareTried: bare.length,
    },
    version,
    date: today(),
    build: builtNow(),
  };
};

const lineOf = (row: Row, { name }: Engine, cell: Cell): string => {
  const { once, twice, never, unknown } = cell.fates;
  const verdict = cell.failed ? `${cell.failed} NOT AS PROMISED` : 'as promised';
  const guest = cell.problems.length ? `  BAD GUEST: ${cell.problems.join('; ')}` : '';
  const tasks = cell.longTasks.count
    ? `  long tasks ${cell.longTasks.count} (to ${cell.longTasks.longest} ms)`
    : '';
  const wrong = cell.wrong.length ? `\n    ${cell.wrong.join('\n    ')}` : '';
  return `${name} ${row.id}: n ${cell.runs}, once ${once}, twice ${twice}, never ${never} (unknown ${unknown}), ${verdict}, cached ${cell.cached.yes}/${cell.cached.tried} (bare ${cell.cached.bareYes}/${cell.cached.bareTried})${tasks}${guest}${wrong}`;
};

const playRow = async (engine: Engine, row: Row): Promise<void> => {
  const runs = Number(values.runs ?? row.runs ?? DEFAULT_RUNS);
  const results = await inParallel(runs, Number(values.jobs), () =>
    runRow(engine, row).catch(brokenRun),
  );
  const cell = cellOf(results, engine);
  await publish(({ rows }) => {
    rows[row.id] = { ...rows[row.id], [engine.name]: cell };
  });
  console.log(lineOf(row, engine, cell));
  if (cell.failed || cell.problems.length) process.exitCode = 1;
};

for (const name of values.engines.split(',') as EngineName[]) {
  const engine = await openEngine(name);
  for (const row of chosenRows()) if (!row.cannot?.[name]) await playRow(engine, row);
  await endEngine(engine);
}
endSoon();
