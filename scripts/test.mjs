/**
 * `npm test`: everything that must hold. One step's failure does not hide the others'.
 *
 *     node scripts/test.mjs                    all steps
 *     node scripts/test.mjs --only unit,e2e    these alone, on what is built already
 *     NO_SKIP=1 node scripts/test.mjs          as before a merge: leaves nothing of a push out, and a skipped test has failed
 *     NIGHT=1 node scripts/test.mjs            and what takes too long for each push
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findChromium, findFirefox } from '../e2e/support/find-browser.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Where a step of tests leaves its report. */
const reportOf = (step) => `${ROOT}test-results/${step}.json`;

/** A developer may be without nginx or Postgres. In CI they can be installed, and a skip hides what is broken. */
const MAY_SKIP = !process.env.NO_SKIP;

/** Other tests of the package fail first for most changes, so these wait until the merge or the night. */
const FOR_THE_MERGE =
  MAY_SKIP && !process.env.NIGHT ? ['packed/tools.test.ts', 'packed/recipes.test.ts'] : [];

const PACKED = readdirSync(`${ROOT}packed`)
  .map((name) => `packed/${name}`)
  .filter((file) => file.endsWith('.test.ts') && !FOR_THE_MERGE.includes(file));

/** On one core, since something else runs beside it. Without `files` it runs all of the project. */
const vitest = (project, files = []) => ({
  args: [
    ...['node_modules/vitest/vitest.mjs', 'run', '--project', project, ...files, '--maxWorkers=1'],
    ...['--reporter=default', '--reporter=json', `--outputFile.json=${reportOf(project)}`],
  ],
  count: countVitest,
});

/** What Node is run on. One with `count` has tests. */
const STEPS = {
  build: { args: ['scripts/build.mjs'] },
  lint: { args: ['node_modules/oxlint/bin/oxlint'] },
  format: { args: ['node_modules/prettier/bin/prettier.cjs', '--check', '.'] },
  e2e: {
    args: ['node_modules/@playwright/test/cli.js', 'test'],
    count: countPlaywright,
    needsBuild: true,
  },
  unit: vitest('unit'),
  world: vitest('world'),
  packed: { ...vitest('packed', PACKED), needsBuild: true },
};

/** In each round two lanes take one step after the other, the longest first: the smallest machine has two cores. */
const ROUNDS = [
  ['build', 'lint', 'format'],
  ['e2e', 'unit', 'packed', 'world'],
];

const wanted = wantedSteps();
if (wanted.includes('e2e')) needChromium();
const results = [];
const started = performance.now();
for (const round of ROUNDS) {
  const left = round.filter((name) => wanted.includes(name));
  await Promise.all([runLane(left), runLane(left)]);
}
summarise();

function wantedSteps() {
  const all = Object.keys(STEPS);
  const at = process.argv.indexOf('--only');
  if (at < 0) return all;
  const named = (process.argv[at + 1] ?? '').split(',');
  const unknown = named.filter((name) => !all.includes(name));
  if (!unknown.length) return named;
  console.error(`No such step: ${unknown}. There are: ${all.join(', ')}`);
  process.exit(2);
}

/** Says at once what would fail after minutes, and how to do without it. */
function needChromium() {
  try {
    findChromium();
  } catch ({ message }) {
    const others = Object.keys(STEPS).filter((name) => name !== 'e2e');
    console.error(`${message}\nOr leave the browser out: node scripts/test.mjs --only ${others}`);
    process.exit(2);
  }
}

/** @param left the steps of the round that no lane has taken yet */
async function runLane(left) {
  for (let name = left.shift(); name; name = left.shift())
    results.push(await runStep(name, STEPS[name]));
}

async function runStep(name, { args, count, needsBuild }) {
  if (needsBuild && results.some((result) => result.name === 'build' && result.failed.length)) {
    return { name, seconds: 0, passed: 0, failed: [], leftOut: ['all: the build failed'] };
  }
  console.log(`\n── ${name} ${'─'.repeat(70 - name.length)}`);
  rmSync(reportOf(name), { force: true }); // an old one is never taken for a new one
  const since = performance.now();
  const isGood = await run(args);
  const counts = count ? readCounts(name, count) : { passed: 0, failed: [], leftOut: [] };
  // A step may fail beside its tests.
  if (!isGood && !counts.failed.length) counts.failed.push('the step itself');
  if (!MAY_SKIP) counts.failed.push(...counts.leftOut);
  return { name, seconds: (performance.now() - since) / 1_000, ...counts };
}

function readCounts(name, count) {
  try {
    return count(JSON.parse(readFileSync(reportOf(name), 'utf8')));
  } catch {
    return { passed: 0, failed: ['all: it did not come to its tests'], leftOut: [] };
  }
}

function countVitest(report) {
  const tests = report.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map((test) => ({
      ...test,
      name: `${relative(ROOT, name)}: ${test.fullName}`,
    })),
  );
  const failed = tests.filter(({ status }) => status === 'failed');
  // A file that does not load has no tests to fail.
  const unloaded = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  return {
    passed: report.numPassedTests,
    failed: [
      ...failed.map(({ name, failureMessages }) => `${name}\n${failureMessages[0]}`),
      ...unloaded.map(({ name, message }) => `${relative(ROOT, name)}\n${message}`),
    ],
    leftOut: tests
      .filter(({ status }) => status !== 'passed' && status !== 'failed')
      .map(({ name }) => name),
  };
}

function countPlaywright({ stats, suites }) {
  return {
    passed: stats.expected,
    failed: listSpecs(suites)
      .flatMap(({ file, line, title, tests }) =>
        tests.map((test) => ({
          ...test,
          name: `e2e/${file}:${line} [${test.projectName}]: ${title}`,
        })),
      )
      .filter(({ status }) => status === 'unexpected')
      .map(({ name, results }) => `${name}\n${results[0]?.error?.message}`),
    leftOut: [
      ...(findFirefox() ? [] : ['all in Firefox: there is none']),
      ...(stats.skipped ? [`${stats.skipped} tests that are skipped where they stand`] : []),
    ],
  };
}

/** The specs of Playwright's report, out of its nested suites. */
function listSpecs(suites = []) {
  return suites.flatMap((suite) => [...suite.specs, ...listSpecs(suite.suites)]);
}

function summarise() {
  console.log(`\n── summary ${'─'.repeat(63)}`);
  for (const { name, seconds, passed, failed, leftOut } of results) {
    const tests = passed ? `  ${passed} passed` : '';
    const verdict = failed.length ? `  ${failed.length} FAILED` : '';
    console.log(`${name.padEnd(8)} ${seconds.toFixed(1).padStart(7)} s${tests}${verdict}`);
    for (const what of leftOut) console.log(`           left out: ${what}`);
    for (const what of failed) console.log(`           FAILED: ${firstLines(what)}`);
  }
  if (FOR_THE_MERGE.length)
    console.log(`left out: ${FOR_THE_MERGE.join(', ')}, which are for the merge (NO_SKIP=1)`);
  if (!process.env.NIGHT) console.log('left out: what is for the night (NIGHT=1)');
  console.log(`all      ${((performance.now() - started) / 1_000).toFixed(1).padStart(7)} s`);
  const passed = results.reduce((total, result) => total + result.passed, 0);
  const failed = results.reduce((total, result) => total + result.failed.length, 0);
  process.exitCode = failed ? 1 : 0;
  console.log(`${passed} passed, ${failed} failed`);
}

/** Enough of a failure to know it again; the whole of it stands where it happened. */
function firstLines(text) {
  const lines = text.split('\n').filter((line) => line.trim() && !line.includes('node_modules'));
  return lines.slice(0, 6).join('\n             ');
}

/** Whether it exits with 0. */
function run(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit' });
    child.once('error', reject);
    child.once('exit', (code) => resolve(code === 0));
  });
}
