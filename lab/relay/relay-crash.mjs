/**
 * Two relay processes over one Redis. In the middle of the records one of them is killed, and later Redis,
 * which comes back with its append-only file. Then all records are counted at the service: once each where
 * it honours the Idempotency-Key; where it ignores it, none is lost, and none is there twice but those that
 * the relay had in flight as it was killed, `concurrency` at the most. Run after the build.
 *
 *     node lab/relay/relay-crash.mjs               5,000 records, in both ways
 *     node lab/relay/relay-crash.mjs --records 600 --honoured
 *
 * A request that gets no answer within its timeout is sent again, too, and counted apart: on a machine that
 * has nothing else to do there is none.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createClient } from 'redis';
import { createRedisQueue } from '../../dist/relay-redis.js';
import { hasRedis, startRedis } from './support/start-redis.mjs';
import { startProgram } from './support/start-program.mjs';
import { writeResult } from '../../scripts/test-result.mjs';

const at = process.argv.indexOf('--records');
const RECORDS = at < 0 ? 5_000 : Number(process.argv[at + 1]);
const USERS = 100;
const BATCH = 50;
const SENDERS = 4;
const CONCURRENCY = 32;
/** Ample, so that a slow machine does not pass for a lost process. */
const VISIBILITY_MS = 30_000;
const TOKEN = 'crash-token';
const GIVE_UP_MS = 180_000;

const path = (name) => fileURLToPath(new URL(name, import.meta.url));

if (!hasRedis) {
  writeResult('crash', { passed: 0, failed: 0, skipped: 1 });
} else {
  const results = [await run(false)];
  if (!process.argv.includes('--honoured')) results.push(await run(true));
  const failed = results.filter((isGood) => !isGood).length;
  writeResult('crash', { passed: results.length - failed, failed, skipped: 0 });
  process.exitCode = failed ? 1 : 0;
}

/** One record in ten is an identify, so that the order of each user can be seen. */
function makeRecords() {
  return Array.from({ length: RECORDS }, (_, n) => {
    const user_id = `user-${n % USERS}`;
    const isIdentify = Math.floor(n / USERS) % 10 === 0;
    return {
      id: `record-${n}`,
      type: isIdentify ? 'identify' : 'event',
      body: isIdentify
        ? { project: 'crash', user_id, properties: { n } }
        : { project: 'crash', channel: 'web', event: 'Order placed', user_id, tags: { n } },
    };
  });
}

async function run(ignoreKeys) {
  const folder = mkdtempSync(join(tmpdir(), 'relay-crash-'));
  const redis = await startRedis();
  const service = await startProgram(path('../../demo/dist/service.js'), {
    ...{ PORT: '0', TOKEN, DATABASE: join(folder, 'service.db') },
    IGNORE_KEYS: ignoreKeys ? '1' : '',
  });
  const account = join(folder, 'account.json');
  const startRelay = () =>
    startProgram(path('support/relay-process.mjs'), {
      ...{ SERVICE_URL: service.url, REDIS_URL: redis.url, TOKEN, ACCOUNT: account },
      ...{ CONCURRENCY: String(CONCURRENCY), VISIBILITY_MS: String(VISIBILITY_MS) },
    });
  const relays = [await startRelay(), await startRelay()];
  const client = await createClient({ url: redis.url })
    .on('error', () => {})
    .connect();
  const started = performance.now();
  const seconds = () => `${((performance.now() - started) / 1_000).toFixed(1)} s`;
  try {
    console.log(`\n${RECORDS} records, service ${ignoreKeys ? 'ignores' : 'honours'} the key`);
    const state = { accepted: 0, resent: 0, stored: 0 };
    const sending = sendAll(relays, state);
    const stored = async () => (state.stored = (await read(service.url, 1)).total);
    await until(async () => (await stored()) >= RECORDS * 0.3, 'a third to be stored');
    const { inFlight, unanswered } = await crash(relays[0], account);
    const had = { inFlight, unanswered: [unanswered] };
    console.log(
      `  ${seconds()}  relay killed, ${await stored()} stored, ${state.accepted} accepted, ` +
        `${inFlight.length} in flight`,
    );
    await until(async () => (await stored()) >= RECORDS * 0.5, 'a half to be stored');
    await redis.kill();
    const left = (await readAccount(relays[1])).inFlight.length;
    console.log(
      `  ${seconds()}  Redis killed, ${await stored()} stored, ${state.accepted} accepted, ` +
        `${left} in flight`,
    );
    await sleep(500);
    await redis.restart();
    console.log(`  ${seconds()}  Redis is back`);
    await Promise.race([sending, until(async () => (await stored()) < 0, 'all to be accepted')]);
    console.log(`  ${seconds()}  all accepted, ${state.resent} records sent again by the clients`);
    const queue = createRedisQueue({ client });
    await until(async () => (await queue.size()).waiting === 0, 'the queue to be empty');
    console.log(`  ${seconds()}  the queue is empty`);
    had.unanswered.push((await readAccount(relays[1])).unanswered);
    return await judge(service.url, queue, { ignoreKeys, had });
  } catch (error) {
    console.error(`  FAILED: ${error.message}`);
    return false;
  } finally {
    client.destroy();
    await Promise.all(relays.map((relay) => relay.stop()));
    await service.stop();
    await redis.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function readAccount({ url }) {
  return (await fetch(`${url}/account`)).json();
}

/** Has the relay killed at once, and says what it had in flight then. */
async function crash(relay, account) {
  await fetch(`${relay.url}/crash`).catch(() => {}); // who is killed does not answer
  await relay.kill();
  return JSON.parse(readFileSync(account, 'utf8'));
}

/** Clients that keep a record until a relay has said that it is accepted, as the snippet does. */
async function sendAll(relays, state) {
  const records = makeRecords();
  const batches = [];
  while (records.length) batches.push(records.splice(0, BATCH));
  const send = async (_, sender) => {
    for (let batch = batches.shift(); batch; batch = batches.shift()) {
      let target = sender;
      // So that there is still something to send when the relay and Redis are killed.
      await until(() => state.accepted - state.stored < RECORDS / 5, 'a smaller backlog');
      for (let waiting = batch; waiting.length; target++) {
        const kept = await post(relays[target % relays.length].url, waiting);
        state.accepted += waiting.length - kept.length;
        state.resent += kept.length;
        waiting = kept;
        if (waiting.length) await sleep(200);
      }
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
}

/** What was not taken. */
async function post(url, records) {
  try {
    const response = await fetch(`${url}/v1/batch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: 'https://shop.example' },
      body: JSON.stringify({ sent_at: new Date().toISOString(), records }),
    });
    if (!response.ok) {
      await response.text();
      return records;
    }
    const { results } = await response.json();
    const bad = results.find(({ outcome }) => outcome === 'rejected' || outcome === 'blocked');
    if (bad) throw new TypeError(`a record was not taken: ${JSON.stringify(bad)}`);
    return records.filter((_, index) => results[index].outcome === 'retry');
  } catch (error) {
    if (error.message.startsWith('a record')) throw error;
    return records; // no answer: the relay is gone
  }
}

async function read(url, limit) {
  const [events, identifies] = await Promise.all(
    ['events', 'identifies'].map(async (name) =>
      (await fetch(`${url}/_/${name}?limit=${limit}`)).json(),
    ),
  );
  return { ...events, ...identifies, total: events.total + identifies.total };
}

async function judge(url, queue, { ignoreKeys, had }) {
  const { events, identifies, total } = await read(url, 10_000);
  const numbers = [
    ...events.map(({ tags }) => tags.n),
    ...identifies.map((row) => row.properties.n),
  ];
  const different = new Set(numbers);
  const twice = numbers.filter((n, index) => numbers.indexOf(n) !== index);
  const inFlight = new Set(had.inFlight);
  const unanswered = new Set(had.unanswered.flat());
  const ofThese = (ids) => twice.filter((n) => ids.has(`record-${n}`)).length;
  const unexplained = twice.filter(
    (n) => !inFlight.has(`record-${n}`) && !unanswered.has(`record-${n}`),
  );
  const disorder = countDisorder(identifies);
  const { dead } = await queue.size();
  console.log(
    `  stored ${total}, different ${different.size}, lost ${RECORDS - different.size}, ` +
      `twice ${twice.length}`,
  );
  console.log(
    `  twice of the ${inFlight.size} in flight (at most ${CONCURRENCY}): ${ofThese(inFlight)}, ` +
      `of ${unanswered.size} without an answer: ${ofThese(unanswered)}, of others: ${unexplained.length}`,
  );
  console.log(`  identifies out of order ${disorder}, dead ${dead}`);
  const isOnce = ignoreKeys
    ? unexplained.length === 0 && inFlight.size <= CONCURRENCY
    : twice.length === 0;
  const isGood = different.size === RECORDS && isOnce && !disorder && !dead;
  console.log(isGood ? '  ✓ as promised' : '  ✗ NOT as promised');
  return isGood;
}

/** Identifies that stand behind a later one of their user; a repeat counts where it came first. */
function countDisorder(identifies) {
  const last = new Map();
  const seen = new Set();
  let disorder = 0;
  for (const { user_id: user, properties } of identifies) {
    if (seen.has(properties.n)) continue;
    seen.add(properties.n);
    if (properties.n < (last.get(user) ?? -1)) disorder++;
    last.set(user, properties.n);
  }
  return disorder;
}

async function until(holds, what) {
  const end = performance.now() + GIVE_UP_MS;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`waited too long for ${what}`);
    await sleep(50);
  }
}
