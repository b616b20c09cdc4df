import { ENGINE_NAMES, type EngineName } from './engine.js';
import { ENGINE_LIMITS } from './engine-limits.js';
import { renderRates } from './render-rates.js';
import { renderSoak } from './render-soak.js';
import type { ByEngine, Cell, Results } from './results.js';
import type { Row } from './row.js';
import { table, TITLES } from './table.js';

type Told = Pick<Row, 'id' | 'group' | 'what' | 'promised' | 'cannot' | 'because'>;

/** Marks what was measured on another build than the last run. */
const STALE = ' ⌛';

const renderCell = (
  cell: Cell | undefined,
  reason: string | undefined,
  build: string | undefined,
): string => {
  if (reason) return 'cannot';
  if (!cell) return 'not run';
  const mark = cell.build === build ? '' : STALE;
  const { once, twice, never, unknown, dropped, waiting, lost } = cell.fates;
  const parts = Object.entries({ unknown, dropped, waiting, lost }).filter(
    ([, count]) => count > 0,
  );
  const ofNever = parts.map(([name, count]) => `${count} ${name}`).join(', ');
  const kept = `${cell.runs - cell.failed}/${cell.runs}`;
  const counts = `${once} / ${twice} / ${never}${ofNever ? ` (${ofNever})` : ''}`;
  return `${cell.failed ? `**${kept}**` : kept}: ${counts}${mark}`;
};

const renderGroup = (group: string, rows: readonly Told[], results: Results): string => {
  const body = rows.map(({ id, what, promised, cannot }) => [
    what,
    promised.words,
    ...ENGINE_NAMES.map((name) =>
      renderCell(results.rows[id]?.[name], cannot?.[name], results.build),
    ),
  ]);
  const heads = ['what happens', 'promised', ...ENGINE_NAMES.map((name) => TITLES[name])];
  return `### ${group}\n\n${table(heads, body)}`;
};

/** The rows' cells of one engine. */
const cellsOf = (rows: readonly Told[], results: Results, name: EngineName): Cell[] =>
  rows.flatMap(({ id, cannot }) => (cannot?.[name] ? [] : (results.rows[id]?.[name] ?? [])));

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

const renderHeadline = (rows: readonly Told[], results: Results): string => {
  const lines = ENGINE_NAMES.map((name) => {
    const cells = cellsOf(rows, results, name);
    const runs = sum(cells.map((cell) => cell.runs));
    const failed = sum(cells.map((cell) => cell.failed));
    const whole = cells.filter((cell) => cell.failed === 0).length;
    const lost = sum(cells.map(({ fates }) => fates.lost));
    return [
      TITLES[name],
      versionsOf(cells),
      `${whole} of ${cells.length}`,
      `${runs - failed} of ${runs}`,
      String(lost),
    ];
  });
  return table(
    [
      'engine',
      'version, date',
      'rows as promised',
      'runs as promised',
      'records lost without a word',
    ],
    lines,
  );
};

const versionsOf = (cells: readonly Cell[]): string =>
  [...new Set(cells.map(({ version, date }) => `${version}, ${date}`))].sort().join('; ');

const renderFailures = (rows: readonly Told[], results: Results): string => {
  const lines = rows.flatMap(({ id, what, cannot, because }) => {
    const failing = ENGINE_NAMES.flatMap((name) => {
      const cell = results.rows[id]?.[name];
      if (!cell?.failed || cannot?.[name]) return [];
      return `- ${TITLES[name]}, ${what}: ${cell.failed} of ${cell.runs}. ${cell.wrong.join('; ')}.`;
    });
    return because && failing.length > 0 ? [...failing, `  - Why: ${because}`] : failing;
  });
  return lines.length ? lines.join('\n') : 'None.';
};

const renderGuest = (rows: readonly Told[], results: Results): string => {
  const lines = ENGINE_NAMES.map((name) => {
    const cells = cellsOf(rows, results, name);
    const problems = sum(cells.map((cell) => cell.problems.length));
    const tasks = sum(cells.map(({ longTasks }) => longTasks.count));
    const taskRuns = sum(cells.map(({ longTasks }) => longTasks.runs));
    const back = sum(cells.map(({ cached }) => cached.yes));
    const tried = sum(cells.map(({ cached }) => cached.tried));
    const bareBack = sum(cells.map(({ cached }) => cached.bareYes ?? 0));
    const bareTried = sum(cells.map(({ cached }) => cached.bareTried ?? 0));
    const longest = Math.max(0, ...cells.map(({ longTasks }) => longTasks.longest ?? 0));
    return [
      TITLES[name],
      String(sum(cells.map(({ runs }) => runs))),
      String(problems),
      taskRuns ? `${tasks} in ${taskRuns} runs, to ${longest} ms` : 'not told',
      `${back} of ${tried}`,
      `${bareBack} of ${bareTried}`,
    ];
  });
  const seen = rows.flatMap(({ id, what }) =>
    ENGINE_NAMES.flatMap((name) =>
      (results.rows[id]?.[name]?.problems ?? []).map(
        (problem) => `- ${TITLES[name]}, ${what}: ${problem}`,
      ),
    ),
  );
  const heads = [
    'engine',
    'runs',
    'problems',
    'own tasks of 50 ms or more',
    'back from the cache',
    'a page without the tag',
  ];
  return [table(heads, lines), ...(seen.length ? [seen.join('\n')] : [])].join('\n\n');
};

const renderLimits = (rows: readonly Told[]): string => {
  const general = ENGINE_LIMITS.map((limit) => `- ${limit}`);
  const ofRows = rows.flatMap(({ what, cannot = {} }) =>
    Object.entries(cannot as ByEngine<string>).map(
      ([name, reason]) => `- ${TITLES[name as EngineName]}, ${what}: ${reason}`,
    ),
  );
  return [...general, ...ofRows].join('\n');
};

/** The whole of `docs/promise.md`. */
export const renderPromise = (rows: readonly Told[], results: Results): string => {
  const groups = [...new Set(rows.map(({ group }) => group))];
  return `<!-- Written by \`npm run matrix\`, \`npm run rates\` and \`npm run soak\` from lab/matrix/results.json: change nothing here. -->

# The promise, tried in real browsers

Each row makes something go wrong in a real browser, with the built \`dist/outbox.js\` and the [demo service](service.md). What is counted is what stands in the service's database.

${renderHeadline(rows, results)}

Machine: ${results.machine}. Site, service and browser on one machine, headless, other work beside it.

## How to read it

\`20/20: 400 / 0 / 0\` says: 20 of 20 runs were as promised, and of their records 400 were stored once, 0 twice, 0 never. Those never stored are sorted by what the snippet says of them on the next page:

| word | meaning |
| --- | --- |
| unknown | was in flight as its page went; counted in \`status().unknown\` |
| dropped | dropped with a reason, told by \`onDrop\` |
| waiting | still in the outbox as the run ended |
| lost | nobody knows of it |

${STALE.trim()} marks a row that was last run on another build than \`${results.build ?? 'unknown'}\` (the start of the SHA-256 of \`dist/outbox.js\`).

A run that broke off counts as not as promised. \`cannot\` is explained [below](#what-an-engine-cannot-do). The next visit after a crash is made two minutes later by the page's clock, since a parcel is held for one.

\`\`\`sh
npm run build
npm run matrix -- --engines chromium,firefox --only navigate,close --runs 20
\`\`\`

## Rows

${groups
  .map((group) =>
    renderGroup(
      group,
      rows.filter((row) => row.group === group),
      results,
    ),
  )
  .join('\n\n')}

## Not as promised

${renderFailures(rows, results)}

## Good guest

Looked at in every run: page errors, unhandled rejections, console lines, new globals, foreign storage keys, requests elsewhere. At the end the last page goes forward and back: did it come from the back/forward cache? Chromium tells of frames that a script held up; these are times by the clock, on a machine with other work.

${renderGuest(rows, results)}

## Survival rates

${renderRates(results.rates, rows)}

## Soak

${renderSoak(results.soak)}

## What an engine cannot do

${renderLimits(rows)}
`;
};
