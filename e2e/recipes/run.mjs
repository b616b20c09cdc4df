/**
 * Runs each recipe as whoever copies it would, over the package as it would be published, and sends to it.
 * Beside them it builds the examples, which the end-to-end tests visit; one of them holds a recipe.
 * Needs the build, and a registry for the first run; later ones use what is in `.tmp/recipes`.
 *
 *     node e2e/recipes/run.mjs                    all
 *     node e2e/recipes/run.mjs --only deno,bun    these alone
 *     RECIPES=skip npm test                       none: where there is no registry
 */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../lab/relay/support/free-port.mjs';
import { writeResult } from '../../scripts/test-result.mjs';
import { checkRelay } from './support/check-relay.mjs';
import { EXAMPLES, buildExamples, noteBuilt } from './support/examples.mjs';
import { FOLDER, ROOT, installRecipes } from './support/install.mjs';
import { startProgram } from './support/program.mjs';
import { RECIPES } from './support/recipes.mjs';
import { createServiceReader } from './support/service-reader.mjs';

const ORIGIN = 'https://shop.example';

const counts = { passed: 0, failed: 0, skipped: 0 };
const isWhole = !process.argv.includes('--only');
const names = chosenRecipes();
const reason = whyNot();
if (reason) {
  console.log(`the recipes are left out: ${reason}`);
  counts.skipped = names.length;
} else {
  await runAll();
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
writeResult('recipes', counts);
process.exitCode = counts.failed ? 1 : 0;

function chosenRecipes() {
  const at = process.argv.indexOf('--only');
  const wanted = at < 0 ? Object.keys(RECIPES) : (process.argv[at + 1] ?? '').split(',');
  const unknown = wanted.filter((name) => !(name in RECIPES));
  if (unknown.length) throw new Error(`No such recipe: ${unknown}`);
  return wanted;
}

function whyNot() {
  if (process.env.RECIPES === 'skip') return 'RECIPES=skip';
  if (process.platform === 'win32') return 'they are started the way of Linux and macOS';
  return undefined;
}

async function runAll() {
  try {
    installRecipes();
  } catch (error) {
    console.error(error.message);
    counts.failed = names.length;
    return;
  }
  const token = `tok_${randomUUID()}`;
  const database = join(FOLDER, `service-${process.pid}.db`);
  const service = startProgram({
    command: [process.execPath, join(ROOT, 'demo/dist/service.js')],
    folder: FOLDER,
    env: { PORT: '0', HOST: '', FAULTS: '', TOKEN: token, DATABASE: database },
  });
  try {
    const [url] = await service.says(/http:\S+/);
    const examples = buildExamples(
      Object.keys(EXAMPLES).filter((name) => isWhole || names.includes(name)),
    );
    for (const name of names) await runOne(name, { url, token }, examples[name]);
    await countExamples(examples);
  } finally {
    await service.stop();
    for (const end of ['', '-wal', '-shm']) rmSync(database + end, { force: true });
  }
}

async function countExamples(examples) {
  for (const [name, built] of Object.entries(examples)) {
    try {
      await built;
      counts.passed++;
      console.log(`built   ${name}`);
    } catch (error) {
      counts.failed++;
      console.log(`FAILED  ${name}: ${error.message}`);
    }
  }
  if (isWhole && !counts.failed) noteBuilt();
}

async function runOne(name, service, built) {
  const recipe = RECIPES[name];
  const missing = recipe.missing?.();
  if (missing) {
    counts.skipped++;
    console.log(`skipped ${name}: ${missing}`);
    return;
  }
  const started = performance.now();
  const running = [];
  const port = await freePort();
  const env = {
    PORT: String(port),
    SERVICE_URL: service.url,
    SERVICE_TOKEN: service.token,
    SITE_ORIGIN: ORIGIN,
  };
  try {
    await built;
    const { folder = join(FOLDER, name) } = recipe;
    for await (const program of recipe.start({ folder, port, env })) running.push(program);
    const said = await checkRelay({
      url: `http://127.0.0.1:${port}/a`,
      origin: ORIGIN,
      reader: createServiceReader(service.url),
      isAlive: () => running.every((program) => program.isAlive()),
      secret: service.token,
      ...recipe.promises,
    });
    if (running.some((program) => program.output().includes(service.token)))
      throw new Error('it logs the token');
    counts.passed++;
    const seconds = ((performance.now() - started) / 1_000).toFixed(1);
    console.log(`ok      ${name.padEnd(20)} ${seconds.padStart(5)} s  ${said.join(', ')}`);
  } catch (error) {
    counts.failed++;
    console.log(`FAILED  ${name}: ${error.message}`);
    for (const program of running) console.log(program.output());
  } finally {
    await Promise.all(running.map((program) => program.stop()));
  }
}
