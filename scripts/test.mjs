/**
 * `npm test`: everything that must hold, in order. One step's failure does not hide the others'.
 *
 *     node scripts/test.mjs                    all steps
 *     node scripts/test.mjs --only unit,e2e    these alone, on what is built already
 *     NO_SKIP=1 node scripts/test.mjs          a test that is skipped has failed
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { findChromium, findFirefox } from './find-browser.mjs';
import { judge, readResult, removeResult, resultFile } from './test-result.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Each runs `node` on these arguments; one with `count` has tests and says how many of each. */
const STEPS = {
  build: { run: npm('build') },
  lint: { run: npm('lint') },
  // Before the unit tests, which compare the README with what it has bundled.
  size: { run: node('scripts/check-sizes.mjs'), count: (counts) => counts, needsBuild: true },
  unit: {
    run: node(
      'node_modules/vitest/vitest.mjs',
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${resultFile('unit')}`,
    ),
    count: countVitest,
  },
  package: { run: node('scripts/check-package.mjs'), count: (counts) => counts, needsBuild: true },
  recipes: {
    run: node('e2e/recipes/run.mjs'),
    count: (counts) => counts,
    needsBuild: true,
  },
  crash: {
    run: node('lab/relay/relay-crash.mjs', '--records', '600', '--honoured'),
    count: (counts) => counts,
    needsBuild: true,
  },
  'service-crash': {
    run: node('lab/service/service-crash.mjs', '--kills', '4'),
    count: (counts) => counts,
    needsBuild: true,
  },
  program: {
    run: node('e2e/relay/program.mjs'),
    count: (counts) => counts,
    needsBuild: true,
  },
  e2e: { run: runEndToEnd, count: countPlaywright, needsBuild: true },
};

/** Steps that go at the same time as the one before them: each needs about one core. */
const BESIDE = {
  lint: 'build',
  crash: 'recipes',
  'service-crash': 'recipes',
  program: 'recipes',
};

/** A developer may be without nginx, Redis or Postgres. In CI they can be installed, and a skip hides what is broken. */
const MAY_SKIP = !process.env.NO_SKIP;

const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;

const names = chosenSteps();
const results = [];
const startedAll = performance.now();
for (const round of roundsOf(names)) results.push(...(await Promise.all(round.map(runStep))));
summarise();

function chosenSteps() {
  const at = process.argv.indexOf('--only');
  if (at < 0) return Object.keys(STEPS);
  const wanted = (process.argv[at + 1] ?? '').split(',');
  const unknown = wanted.filter((name) => !(name in STEPS));
  if (unknown.length) {
    console.error(`No such step: ${unknown}. There are: ${Object.keys(STEPS).join(', ')}`);
    process.exit(2);
  }
  return Object.keys(STEPS).filter((name) => wanted.includes(name));
}

function roundsOf(names) {
  const rounds = [];
  for (const name of names) {
    if (rounds.at(-1)?.includes(BESIDE[name])) rounds.at(-1).push(name);
    else rounds.push([name]);
  }
  return rounds;
}

async function runStep(name) {
  const { run, count, needsBuild } = STEPS[name];
  console.log(`\n── ${name} ${'─'.repeat(Math.max(0, 70 - name.length))}`);
  if (needsBuild && results.some((result) => result.name === 'build' && result.failed)) {
    console.log('left out: the build failed');
    return { name, time: '', passed: 0, failed: 0, skipped: 0, isLeftOut: true };
  }
  removeResult(name);
  const started = performance.now();
  const isGood = await run().catch((error) => {
    console.error(error.message);
    return false;
  });
  const result = count ? readResult(name) : undefined;
  const counts = result ? count(result) : { passed: 0, failed: 0 };
  // It failed beside its tests, or a step that has tests did not tell of them.
  if ((!isGood && !counts.failed) || (!!count && !result)) counts.failed++;
  if (counts.skipped && !MAY_SKIP)
    console.log(`${name}: ${counts.skipped} skipped, and NO_SKIP is set`);
  return { name, time: seconds(started), ...judge(counts, MAY_SKIP) };
}

function summarise() {
  console.log(`\n── summary ${'─'.repeat(63)}`);
  for (const { name, time, passed, failed, skipped, isLeftOut } of results) {
    const verdict = isLeftOut ? 'left out' : failed ? 'FAILED' : 'ok';
    const counts =
      STEPS[name].count && !isLeftOut ? countsInWords({ passed, failed, skipped }) : '';
    console.log(`${name.padEnd(14)} ${verdict.padEnd(9)} ${time.padStart(8)}  ${counts}`);
  }
  console.log(`${'all'.padEnd(24)} ${seconds(startedAll).padStart(8)}`);
  const sum = (key) => results.reduce((total, result) => total + result[key], 0);
  const total = { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') };
  process.exitCode = total.failed ? 1 : 0;
  console.log(countsInWords(total));
}

function countsInWords({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`;
}

function countVitest(report) {
  const all = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  for (const { status, fullName } of all) {
    if (status !== 'passed' && status !== 'failed') console.log(`skipped: ${fullName}`);
  }
  // A file that does not load has no tests to fail.
  const unloaded = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + unloaded.length,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

function countPlaywright({ stats }) {
  const { expected, unexpected, skipped } = stats;
  return { passed: expected, failed: unexpected, skipped };
}

async function runEndToEnd() {
  const browsers = { chromium: await findChromium(), firefox: await findFirefox() };
  console.log(`chromium ${browsers.chromium}\nfirefox  ${browsers.firefox ?? 'none'}\n`);
  if (!browsers.firefox && !MAY_SKIP) throw new Error('There is no Firefox, and NO_SKIP is set.');
  process.env.CHROMIUM_PATH = browsers.chromium;
  process.env.FIREFOX_PATH = browsers.firefox ?? 'none';
  return node('node_modules/@playwright/test/cli.js', 'test')();
}

function node(...args) {
  return () => start(process.execPath, args);
}

function npm(script) {
  // On Windows npm is a script, which only a shell starts.
  return () => start('npm', ['run', '--silent', script], process.platform === 'win32');
}

/** Whether it exits with 0. */
function start(command, args, shell = false) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: ROOT, stdio: 'inherit', shell });
    child.once('error', reject);
    child.once('exit', (code) => resolve(code === 0));
  });
}
