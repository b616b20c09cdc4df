/**
 * Kills what stores, again and again, while clients send: the service over a file; two services over one Postgres, of
 * which one is killed, or Postgres itself. Clients keep a record until they have an answer, as the snippet does. Then
 * all records are counted: none that was answered is lost, none is there twice, and each profile has what every
 * identify of its user said. Run after the build.
 *
 *     node lab/service/service-crash.mjs              20 kills of each engine
 *     node lab/service/service-crash.mjs --kills 4
 *     node lab/service/service-crash.mjs --store      the stores alone, without the program before them
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeResult } from '../../scripts/test-result.mjs';
import { openStore } from './support/open-store.mjs';
import { hasPostgres, startPostgres } from './support/start-postgres.mjs';
import { ORIGIN, startService } from './support/start-service.mjs';

const at = process.argv.indexOf('--kills');
const KILLS = at < 0 ? 20 : Number(process.argv[at + 1]);
const isProgram = !process.argv.includes('--store');
const USERS = 50;
const BATCH = 50;
const SENDERS = 6;
/** Records to be answered between two kills. */
const BETWEEN_KILLS = 1_000;
const GIVE_UP_MS = 120_000;

const results = [await overFile()];
if (hasPostgres) results.push(await overPostgres());
const failed = results.filter((isGood) => !isGood).length;
writeResult('service-crash', {
  ...{ passed: results.length - failed, failed },
  skipped: hasPostgres ? 0 : 1,
});
process.exitCode = failed ? 1 : 0;

async function overFile() {
  const folder = mkdtempSync(join(tmpdir(), 'service-crash-'));
  try {
    return await run('a file, killed with its service', `file:${join(folder, 'rows.db')}`, 1);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function overPostgres() {
  const postgres = await startPostgres();
  /** Every fifth time it is Postgres that dies. */
  const killOther = async (round) => {
    if (round % 5) return false;
    await postgres.kill();
    await sleep(200);
    await postgres.restart();
    return true;
  };
  try {
    return await run('one Postgres, two services', postgres.url, 2, killOther);
  } finally {
    await postgres.stop();
  }
}

async function run(name, url, count, killOther = async () => false) {
  console.log(`\n${name}: ${KILLS} kills`);
  const started = performance.now();
  const start = () => startService(url, { isProgram });
  const services = await Promise.all(Array.from({ length: count }, start));
  const sent = startClients(services);
  try {
    for (let round = 1; round <= KILLS; round++) {
      const goal = sent.answered.size + BETWEEN_KILLS;
      await until(() => sent.answered.size >= goal, 'answers');
      if (await killOther(round)) continue;
      const victim = round % count;
      await services[victim].kill();
      services[victim] = await start();
    }
    await sent.end();
    const seconds = ((performance.now() - started) / 1_000).toFixed(1);
    console.log(`  ${seconds} s, ${sent.answered.size} answered, ${sent.repeats} sent again`);
    return await judge(url, sent.answered);
  } catch (error) {
    console.error(`  FAILED: ${error.message}`);
    return false;
  } finally {
    sent.stop();
    await Promise.all(services.map((service) => service.stop()));
  }
}

/** One record in ten is an identify, each with a property of its own. */
function recordOf(n) {
  const user_id = `user-${n % USERS}`;
  const isIdentify = Math.floor(n / USERS) % 10 === 0;
  return {
    id: `record-${n}`,
    type: isIdentify ? 'identify' : 'event',
    body: isIdentify
      ? { project: 'shop', user_id, properties: { [`p${n}`]: n } }
      : { project: 'shop', channel: 'web', event: 'Order placed', user_id, tags: { n } },
  };
}

/** Clients that send until they are ended, and each batch until it is answered. */
function startClients(services) {
  const sent = { answered: new Set(), repeats: 0 };
  let [made, isEnding, isStopped] = [0, false, false];
  const send = async (sender) => {
    while (!isEnding) {
      let waiting = Array.from({ length: BATCH }, () => recordOf(made++));
      for (let target = sender; waiting.length && !isStopped; target++) {
        const left = await post(services[target % services.length].url, waiting, sent.answered);
        sent.repeats += left.length;
        waiting = left;
        if (waiting.length) await sleep(50);
      }
    }
  };
  const sending = Promise.all(Array.from({ length: SENDERS }, (_, sender) => send(sender)));
  return Object.assign(sent, {
    end: async () => {
      isEnding = true;
      await Promise.race([sending, until(() => false, 'the last answers')]);
    },
    stop: () => (isEnding = isStopped = true),
  });
}

/** What was not taken. */
async function post(url, records, answered) {
  try {
    const response = await fetch(`${url}/a/v1/batch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: ORIGIN },
      body: JSON.stringify({ sent_at: new Date().toISOString(), records }),
    });
    const text = await response.text();
    if (!response.ok) return records;
    const taken = JSON.parse(text).results.filter(({ outcome }) => outcome === 'delivered');
    for (const { id } of taken) answered.add(id);
    return records.filter(({ id }) => !answered.has(id));
  } catch {
    return records; // no answer: it is gone
  }
}

async function judge(url, answered) {
  const store = await openStore(url);
  try {
    const ids = [];
    const identifies = new Map();
    for (let after; ;) {
      const rows = await store.rows({}, { after, limit: 5_000 });
      if (!rows.length) break;
      for (const { id, type, user_id, body } of rows) {
        ids.push(id);
        if (type === 'identify')
          identifies.set(user_id, { ...identifies.get(user_id), ...body.properties });
      }
      after = rows.at(-1).seq;
    }
    const different = new Set(ids);
    const lost = [...answered].filter((id) => !different.has(id)).length;
    const twice = ids.length - different.size;
    const counted = (await store.counts()).reduce((sum, { rows }) => sum + rows, 0);
    const profiles = await store.profiles({}, { limit: USERS + 1 });
    const torn = profiles.filter(
      ({ user_id, properties }) =>
        Object.keys(properties).length !== Object.keys(identifies.get(user_id) ?? {}).length,
    ).length;
    const dead = (await store.refused({ limit: 1 })).length;
    const isGood = !lost && !twice && !torn && !dead && counted === ids.length;
    console.log(
      `  stored ${ids.length}, counted ${counted}, answered and lost ${lost}, twice ${twice}, ` +
        `profiles that lack something ${torn} of ${profiles.length}, refused ${dead}`,
    );
    console.log(isGood ? '  ✓ as promised' : '  ✗ NOT as promised');
    return isGood;
  } finally {
    await store.close();
  }
}

async function until(holds, what) {
  const end = performance.now() + GIVE_UP_MS;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`waited too long for ${what}`);
    await sleep(10);
  }
}
