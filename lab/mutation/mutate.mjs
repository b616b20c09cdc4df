/**
 * Changes the code in small ways and runs the tests on each change: one that no test notices is a hole in
 * the tests. A folder at a time; all of them take hours on one core.
 *
 *     npm run mutate                                   all folders
 *     npm run mutate -- --only client/delivery         one
 *     npm run mutate -- --only interface/backoff.ts    one file
 *     npm run mutate -- --concurrency 4
 *
 * Survivors are listed at the end and stand in .tmp/mutation/, one file a folder.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDERS = ['client/record.ts', 'client/delivery', 'client/outbox', 'interface'];
const OUT = '.tmp/mutation';

const { values } = parseArgs({
  options: { only: { type: 'string' }, concurrency: { type: 'string', default: '1' } },
});
const targets = values.only?.split(',') ?? FOLDERS;
mkdirSync(`${ROOT}/${OUT}`, { recursive: true });
const results = targets.map(mutate);
for (const { target, survivors } of results) {
  console.log(`\n── survivors in ${target} ${'─'.repeat(Math.max(0, 58 - target.length))}`);
  for (const line of survivors) console.log(line);
}
console.log(`\n| code | mutants | killed | timed out | survived | not covered | score |`);
console.log('| --- | --- | --- | --- | --- | --- | --- |');
for (const { target, counts, score } of results) {
  const { Killed = 0, Timeout = 0, Survived = 0, NoCoverage = 0 } = counts;
  const all = Killed + Timeout + Survived + NoCoverage;
  console.log(
    `| \`src/${target}\` | ${all} | ${Killed} | ${Timeout} | ${Survived} | ${NoCoverage} | ${score} |`,
  );
}

function mutate(target) {
  const name = target.replaceAll('/', '-').replaceAll('*', '');
  const report = `${OUT}/${name}.json`;
  const config = `${ROOT}/.tmp/mutation/${name}.config.mjs`;
  // The report's name is an option of a file alone.
  writeFileSync(
    config,
    `import base from '../../lab/mutation/stryker.config.mjs';\nexport default { ...base, jsonReporter: { fileName: '${report}' } };\n`,
  );
  const pattern = target.endsWith('.ts') ? `src/${target}` : `src/${target}/**/*.ts`;
  const { status } = spawnSync(
    process.execPath,
    [
      'node_modules/@stryker-mutator/core/bin/stryker.js',
      'run',
      config,
      '--mutate',
      pattern,
      '--concurrency',
      values.concurrency,
    ],
    { cwd: ROOT, stdio: 'inherit' },
  );
  if (status !== 0) process.exit(status ?? 1);
  return { target, ...summary(JSON.parse(readFileSync(`${ROOT}/${report}`, 'utf8'))) };
}

function summary({ files }) {
  const counts = {};
  const survivors = [];
  for (const [file, { mutants, source }] of Object.entries(files)) {
    const lines = source.split('\n');
    for (const { status, location, mutatorName, replacement } of mutants) {
      counts[status] = (counts[status] ?? 0) + 1;
      if (status !== 'Survived' && status !== 'NoCoverage') continue;
      const { line } = location.start;
      const instead = replacement.replace(/\s+/g, ' ').slice(0, 60);
      survivors.push(
        `${file}:${line}  ${mutatorName} → ${instead}\n    ${lines[line - 1].trim().slice(0, 100)}`,
      );
    }
  }
  const killed = (counts.Killed ?? 0) + (counts.Timeout ?? 0);
  const all = killed + (counts.Survived ?? 0) + (counts.NoCoverage ?? 0);
  return { counts, survivors, score: `${((100 * killed) / all).toFixed(1)} %` };
}
