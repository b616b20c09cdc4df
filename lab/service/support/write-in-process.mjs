/**
 * Writes the snippet's batches into a store, in one process and with no HTTP. DATABASE_URL: where to; SECONDS: how
 * long; RATE: batches a second, as many as go where it is left out. It begins with the first message of who forked it,
 * and sends back what it did.
 */
import { createHash } from 'node:crypto';
import { openStore } from './open-store.mjs';

const { DATABASE_URL, SECONDS, RATE } = process.env;
const RECORDS = 50;
/** How many batches are on their way at once: of so many visitors. */
const WRITERS = 16;

const store = await openStore(DATABASE_URL);
let made = 0;
const nextBatch = () => {
  const n = made++;
  const receivedAt = new Date().toISOString();
  return Array.from({ length: RECORDS }, (_, i) => {
    const user_id = `user-${(n * 7 + i) % 5_000}`;
    const isIdentify = i % 10 === 0;
    return {
      id: createHash('sha1').update(`${process.pid} ${n} ${i}`).digest('hex').slice(0, 21),
      type: isIdentify ? 'identify' : 'event',
      body: isIdentify
        ? { project: 'shop', user_id, properties: { plan: 'pro', seen: n } }
        : {
            ...{ project: 'shop', channel: 'web', event: 'Order placed', user_id },
            ...{ tags: { total: 42, currency: 'EUR' }, timestamp: receivedAt },
          },
      ...{ calledAt: receivedAt, receivedAt, client: 'abcdef012345' },
    };
  });
};

const sleepUntil = (time) =>
  new Promise((resolve) => setTimeout(resolve, Math.max(0, time - performance.now())));

async function write() {
  const latencies = [];
  const [started, cpu] = [performance.now(), process.cpuUsage()];
  const end = started + Number(SECONDS) * 1_000;
  const writeOne = async (due) => {
    await store.write(nextBatch());
    latencies.push(performance.now() - due);
  };
  if (RATE) {
    // Each at its time, whether those before it are done or not, so that a stall is seen in all it delays.
    const writes = [];
    for (let n = 0; started + (n / RATE) * 1_000 < end; n++) {
      const due = started + (n / RATE) * 1_000;
      await sleepUntil(due);
      writes.push(writeOne(due));
    }
    await Promise.all(writes);
  } else {
    const writeAll = async () => {
      while (performance.now() < end) await writeOne(performance.now());
    };
    await Promise.all(Array.from({ length: WRITERS }, writeAll));
  }
  const seconds = (performance.now() - started) / 1_000;
  const used = process.cpuUsage(cpu);
  latencies.sort((a, b) => a - b);
  const at = (part) => latencies[Math.floor((latencies.length - 1) * part)];
  return {
    records: (latencies.length * RECORDS) / seconds,
    cores: (used.user + used.system) / 1e6 / seconds,
    ...{ p50: at(0.5), p99: at(0.99), failed: 0 },
  };
}

process.send('ready');
process.once('message', async () => {
  const result = await write();
  await store.close();
  process.send(result, () => process.disconnect());
});
