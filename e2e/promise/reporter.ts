import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem, type } from 'node:os';
import { dirname } from 'node:path';
import type { Reporter, Suite, TestCase, TestResult } from '@playwright/test/reporter';
import { format, resolveConfig } from 'prettier';
import { addFates, NO_FATES, type Fates } from './fates.js';

const PAGE = 'test-results/measured.md';
const DOCS = 'https://github.com/analytics-outbox/analytics-outbox/blob/main/docs/promise.md';
const TITLES = { chromium: 'Chromium', firefox: 'Firefox', webkit: 'WebKitGTK' };
type Project = keyof typeof TITLES;
const PROJECTS = Object.keys(TITLES) as Project[];

/** What the runs of a row in one way came to, in one engine. */
interface Cell {
  runs: number;
  good: number;
  fates: Fates;
}

interface Line {
  group: string;
  what: string;
  way: string;
  promised: string;
  cells: Partial<Record<Project, Cell | 'cannot'>>;
}

const row = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

const inWords = (cell: Line['cells'][Project]): string => {
  if (!cell) return 'not run';
  if (cell === 'cannot') return cell;
  const { runs, good, fates } = cell;
  const records = fates.once + fates.twice + fates.never;
  const counts = (['unknown', 'dropped', 'twice', 'waiting', 'lost'] as const).flatMap((fate) =>
    fates[fate] ? `${fates[fate]} of ${records} ${fate}` : [],
  );
  const verdict = good < runs ? `**${good} of ${runs}**` : `${good} of ${runs}`;
  return [verdict, ...counts].join('; ');
};

const descriptionOf = ({ annotations }: Pick<TestResult, 'annotations'>, wanted: string) =>
  annotations.find(({ type }) => type === wanted)?.description;

/** Writes `test-results/measured.md` from a run of the promise: each row, in each way and engine. */
export default class MeasuredReporter implements Reporter {
  readonly #lines = new Map<string, Line>();
  readonly #versions = new Map<string, string>();
  readonly #wrong = new Set<string>();

  /** In the order of the rows, whichever ends first. */
  onBegin(_: unknown, suite: Suite): void {
    for (const test of suite.allTests()) {
      const about = descriptionOf(test, 'row');
      if (about) this.#lines.set(about, { ...(JSON.parse(about) as Line), cells: {} });
    }
  }

  onTestEnd(test: TestCase, result: TestResult): void {
    const { status, errors } = result;
    const project = test.parent.project()!.name as Project;
    const line = this.#lines.get(descriptionOf(test, 'row') ?? '');
    if (!line || !PROJECTS.includes(project)) return;
    const version = descriptionOf(result, 'version');
    if (version) this.#versions.set(project, version);
    if (status === 'skipped') {
      line.cells[project] = 'cannot';
      return;
    }
    const before = line.cells[project];
    const { runs, good, fates } =
      before && before !== 'cannot' ? before : { runs: 0, good: 0, fates: NO_FATES };
    const isGood = status === 'passed';
    line.cells[project] = {
      runs: runs + 1,
      good: good + (isGood ? 1 : 0),
      fates: addFates(fates, JSON.parse(descriptionOf(result, 'fates') ?? '{}') as Fates),
    };
    const [problem = ''] = errors[0]?.message?.split('\n') ?? [];
    if (!isGood) this.#wrong.add(`${TITLES[project]}, ${line.what}, ${line.way}: ${problem}`);
  }

  async onEnd(): Promise<void> {
    const options = await resolveConfig(PAGE);
    mkdirSync(dirname(PAGE), { recursive: true });
    writeFileSync(PAGE, await format(this.#page(), { ...options, filepath: PAGE }));
  }

  #page(): string {
    const build = createHash('sha256').update(readFileSync('dist/outbox.js')).digest('hex');
    const machine = `${type()}, ${cpus().length} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GB`;
    const engines = PROJECTS.filter((project) => this.#versions.has(project));
    const versions = engines.map((project) => `${TITLES[project]} ${this.#versions.get(project)}`);
    const heads = ['what happens', 'way', 'promised', ...engines.map((project) => TITLES[project])];
    const lines = [...this.#lines.values()];
    const tables = [...new Set(lines.map(({ group }) => group))].map((group) =>
      [
        `## ${group}\n`,
        row(heads),
        row(heads.map(() => '---')),
        ...lines
          .filter((line) => line.group === group)
          .map(({ what, way, promised, cells }) =>
            row([what, way, promised, ...engines.map((project) => inWords(cells[project]))]),
          ),
      ].join('\n'),
    );
    const wrong = [...this.#wrong].map((problem) => `- ${problem}`).join('\n');
    return `# Measured

[The promise](${DOCS}), tried on ${new Date().toISOString().slice(0, 10)} with build \`${build.slice(0, 8)}\` (the start of the SHA-256 of \`dist/outbox.js\`): ${versions.join(', ')}. Machine: ${machine}. Site, service and browser on it, headless.

\`3 of 3\` says: of 3 runs 3 were as promised. What follows counts the records of these runs that were not stored exactly once. \`cannot\`: the engine has no such thing. \`not run\`: not tried there with this build. What an engine promises less is in [where engines differ](${DOCS}#where-engines-differ).

${tables.join('\n\n')}

${wrong && `## Not as promised\n\n${wrong}`}
`;
  }
}
