/**
 * Does the simulation notice what no unit test did? Takes the mutants that survived `npm run mutate`, each
 * into the real code, and says by which seed it is found.
 *
 *     npm run mutate -- --only outbox/writer.ts
 *     npm run simulate-survivors -- --only outbox-writer.ts --seeds 1000 --jobs 2
 */
import { fork } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { bundleProduct } from './bundle.js';
import { findBreak } from './find-break.js';

const REPORTS = '.tmp/mutation';

interface Place {
  line: number;
  column: number;
}
interface Survivor {
  file: string;
  /** The file as it was measured. */
  source: string;
  mutatorName: string;
  from: number;
  to: number;
  line: number;
  replacement: string;
}
/** What Stryker writes, as far as it is read here. */
interface Report {
  files: Record<
    string,
    {
      source: string;
      mutants: {
        status: string;
        mutatorName: string;
        replacement: string;
        location: { start: Place; end: Place };
      }[];
    }
  >;
}

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    seeds: { type: 'string', default: '1000' },
    jobs: { type: 'string', default: '1' },
    /** A mutant that makes no way for so long hangs. */
    patience: { type: 'string', default: '300' },
    /** Set by this script for its own processes. */
    mutant: { type: 'string' },
  },
});
if (!values.only) throw new Error('--only is missing: a report in .tmp/mutation, by its name');
const seeds = Number(values.seeds);

const offsetIn = (source: string, { line, column }: Place): number =>
  source.split('\n', line - 1).reduce((sum, { length }) => sum + length + 1, 0) + column - 1;

const survivorsIn = async (report: string): Promise<Survivor[]> => {
  const { files } = JSON.parse(await readFile(`${REPORTS}/${report}.json`, 'utf8')) as Report;
  return Object.entries(files).flatMap(([file, { source, mutants }]) =>
    mutants
      .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
      .map(({ mutatorName, replacement, location: { start, end } }) => ({
        file,
        source,
        mutatorName,
        replacement,
        from: offsetIn(source, start),
        to: offsetIn(source, end),
        line: start.line,
      })),
  );
};

const survivors = await survivorsIn(values.only);

/** In a process of its own: some never end. */
const runOne = async ({ file, source, from, to, replacement }: Survivor) => {
  const change = (code: string) => {
    if (code !== source) throw new Error(`${file} has changed since it was measured`);
    return code.slice(0, from) + replacement + code.slice(to);
  };
  process.send!((await findBreak(await bundleProduct({ file, change }), seeds)) ?? 'none');
};

const judge = (index: number) =>
  new Promise<string>((resolve) => {
    const args = ['--only', values.only!, '--seeds', values.seeds, '--mutant', String(index)];
    const child = fork(process.argv[1]!, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    let verdict: string | undefined;
    const timer = setTimeout(() => child.kill('SIGKILL'), 1_000 * Number(values.patience));
    child.on('message', (found: [number, string] | 'none') => {
      verdict = found === 'none' ? 'NOT FOUND' : `seed ${found[0]}, ${found[1]}`;
    });
    child.on('exit', (_, signal) => {
      clearTimeout(timer);
      resolve(verdict ?? (signal ? 'hangs' : 'throws'));
    });
  });

const runAll = async () => {
  let next = 0;
  const verdicts: string[] = [];
  const work = async () => {
    while (next < survivors.length) {
      const index = next++;
      const { file, source, line, mutatorName, from, to, replacement } = survivors[index]!;
      const verdict = (verdicts[index] = await judge(index));
      const short = (text: string) => text.replace(/\s+/g, ' ').slice(0, 70);
      const words = `${file}:${line} ${mutatorName}: ${short(source.slice(from, to))} → ${short(replacement)}`;
      console.log(`${verdict.padEnd(24)} ${words}`);
    }
  };
  await Promise.all(Array.from({ length: Number(values.jobs) }, work));
  const found = verdicts.filter((verdict) => verdict !== 'NOT FOUND').length;
  console.log(
    `${found} of ${survivors.length} found within ${seeds} seeds and those that broke once`,
  );
};

if (values.mutant === undefined) await runAll();
else await runOne(survivors[Number(values.mutant)]!);
