/**
 * `npm test`: everything that must hold. One step's failure does not hide the others'. What is missing on this machine is
 * told, and got if scripts/setup.mjs can get it.
 *
 *     node scripts/test.mjs                    all steps
 *     SETUP=1 node scripts/test.mjs            and installs all that is missing; if that is all, as with NO_SKIP=1
 *     node scripts/test.mjs --only unit,e2e    these alone, on what is built already
 *     NO_SKIP=1 node scripts/test.mjs          as before a merge: leaves nothing of a push out, and a skipped test has failed
 *     NIGHT=1 node scripts/test.mjs            and what takes too long for each push
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { setUp } from './setup.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Where a step of tests leaves its report. */
const reportOf = (step) => `${ROOT}test-results/${step}.json`;

/** In each round two lanes take one step after the other, the longest first: the smallest machine has two cores. */
const ROUNDS = [
  ['build', 'lint', 'format'],
  ['e2e', 'unit-1', 'unit-2', 'packed', 'world'], // the unit tests in halves, so that both lanes end together
];

const wanted = wantedSteps();
const { noChromium, missing } = setUp({ needsChromium: wanted.includes('e2e') });
const HAS_ALL = process.env.SETUP && !noChromium && !missing.length;
/** A developer may be without a Firefox or a Postgres. In CI they can be installed, and a skip hides what is broken. */
const MAY_SKIP = !process.env.NO_SKIP && !HAS_ALL;

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
    ...['--reporter=default', '--reporter=scripts/vitest-report.mjs'],
  ],
  count: (report) => report,
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
  'unit-1': vitest('unit', ['--shard=1/2']),
  'unit-2': vitest('unit', ['--shard=2/2']),
  world: vitest('world'),
  packed: { ...vitest('packed', PACKED), needsBuild: true },
};

const NOTHING = { passed: 0, failed: [], leftOut: [] };
const results = [];
const started = performance.now();
for (const round of ROUNDS) {
  const left = round.filter((name) => wanted.includes(name));
  await Promise.all([runLane(left), runLane(left)]);
}
summarise();

function wantedSteps() {
  const all = ROUNDS.flat();
  const at = process.argv.indexOf('--only');
  if (at < 0) return all;
  const nameOf = (step) => step.replace(/-\d$/, ''); // of both halves
  const stepsOf = (name) => all.filter((step) => nameOf(step) === name);
  const named = (process.argv[at + 1] ?? '').split(',');
  const unknown = named.filter((name) => !stepsOf(name).length);
  if (!unknown.length) return named.flatMap(stepsOf);
  console.error(`No such step: ${unknown}. There are: ${[...new Set(all.map(nameOf))].join(', ')}`);
  process.exit(2);
}

/** @param left the steps of the round that no lane has taken yet */
async function runLane(left) {
  for (let name = left.shift(); name; name = left.shift())
    results.push(await runStep(name, STEPS[name]));
}

async function runStep(name, { args, count, needsBuild }) {
  const hasBuild = !results.some((result) => result.name === 'build' && result.failed.length);
  const why = needsBuild && !hasBuild ? 'the build failed' : name === 'e2e' && noChromium;
  if (why) return { name, seconds: 0, ...NOTHING, leftOut: [{ why, what: `all of ${name}` }] };
  console.log(`\n── ${name} ${'─'.repeat(70 - name.length)}`);
  rmSync(reportOf(name), { force: true }); // an old one is never taken for a new one
  const since = performance.now();
  const isGood = await run(args, { REPORT: reportOf(name) });
  const counts = count ? readCounts(name, count) : { ...NOTHING, failed: [] };
  // A step may fail beside its tests.
  if (!isGood && !counts.failed.length) counts.failed.push('the step itself');
  return { name, seconds: (performance.now() - since) / 1_000, ...counts };
}

function readCounts(name, count) {
  try {
    return count(JSON.parse(readFileSync(reportOf(name), 'utf8')));
  } catch {
    return { ...NOTHING, failed: ['all: it did not come to its tests'] };
  }
}

function countPlaywright({ stats, suites, errors }) {
  const tests = listSpecs(suites).flatMap(({ file, line, title, tests }) =>
    tests.map((test) => ({
      ...test,
      name: `e2e/${file}:${line} [${test.projectName}]: ${title}`,
    })),
  );
  const skipped = tests.filter(({ status }) => status === 'skipped');
  const skipOf = ({ annotations }) => annotations.find(({ type }) => /skip|fixme/.test(type));
  // After a hook that failed, or at the end of the time.
  const didNotRun = skipped.filter((test) => !skipOf(test)).map(({ name }) => name);
  return {
    passed: stats.expected,
    failed: [
      ...tests
        .filter(({ status }) => status === 'unexpected')
        .map(({ name, results }) => `${name}\n${results[0]?.error?.message}`),
      ...errors.map(({ message }) => message),
      ...(didNotRun.length ? [`${didNotRun.length} tests did not run:\n${didNotRun[0]} …`] : []),
    ],
    leftOut: [
      ...(missing.includes('Firefox')
        ? [{ why: 'there is no Firefox', what: 'all in Firefox' }]
        : []),
      ...skipped.flatMap((test) => {
        const skip = skipOf(test);
        return skip ? [{ why: skip.description ?? `${test.name} skips itself` }] : [];
      }),
    ],
  };
}

/** The specs of Playwright's report, out of its nested suites. */
function listSpecs(suites = []) {
  return suites.flatMap((suite) => [...suite.specs, ...listSpecs(suite.suites)]);
}

function summarise() {
  console.log(`\n── summary ${'─'.repeat(63)}`);
  for (const { name, seconds, passed, failed } of results) {
    const tests = passed ? `  ${passed} passed` : '';
    const verdict = failed.length ? `  ${failed.length} FAILED` : '';
    console.log(`${name.padEnd(8)} ${seconds.toFixed(1).padStart(7)} s${tests}${verdict}`);
    for (const what of failed) console.log(`           FAILED: ${firstLines(what)}`);
  }
  console.log(`all      ${((performance.now() - started) / 1_000).toFixed(1).padStart(7)} s`);
  if (FOR_THE_MERGE.length)
    console.log(`left out: ${FOR_THE_MERGE.join(', ')}, which are for the merge (NO_SKIP=1)`);
  if (!process.env.NIGHT) console.log('left out: what is for the night (NIGHT=1)');
  const leftOut = linesOf(results.flatMap((result) => result.leftOut));
  for (const line of leftOut) console.log(`${MAY_SKIP ? '' : 'FAILED: '}left out: ${line}`);
  const passed = results.reduce((total, result) => total + result.passed, 0);
  const failed = results.reduce((total, result) => total + result.failed.length, 0);
  const all = failed + (MAY_SKIP ? 0 : leftOut.length);
  process.exitCode = all ? 1 : 0;
  console.log(`${passed} passed, ${all} failed`);
}

/** One line for each reason to leave out tests, or all of a step. */
function linesOf(leftOut) {
  return [...new Set(leftOut.map(({ why }) => why))].map((why) => {
    const wholes = leftOut.flatMap((one) => (one.why === why && one.what) || []);
    const tests = leftOut.filter((one) => one.why === why && !one.what).length;
    return `${[...wholes, ...(tests ? [`${tests} tests`] : [])].join(', ')}: ${why}`;
  });
}

/** Enough of a failure to know it again; the whole of it stands where it happened. */
function firstLines(text) {
  const lines = text.split('\n').filter((line) => line.trim() && !line.includes('node_modules'));
  return lines.slice(0, 6).join('\n             ');
}

/** Whether it exits with 0. */
function run(args, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      ...{ cwd: ROOT, stdio: 'inherit' },
      env: { ...process.env, ...env },
    });
    child.once('error', reject);
    child.once('exit', (code) => resolve(code === 0));
  });
}
