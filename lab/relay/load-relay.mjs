/** Loads a relay, in a process of its own, with batches for the demo service behind it. Run after the build. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { startProgram } from './support/start-program.mjs';

const SECONDS = Number(process.env.SECONDS ?? 10);
const CONNECTIONS = 10;
const RECORDS = 50;
const TOKEN = 'load-token';
const ORIGIN = 'https://shop.example';

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'relay-load-'));
const service = await startProgram(path('../../demo/dist/service.js'), {
  ...{ PORT: '0', TOKEN, DATABASE: join(folder, 'service.db') },
});
const relay = await startProgram(path('support/direct-process.mjs'), {
  ...{ SERVICE_URL: service.url, TOKEN, ORIGIN },
});

let batches = 0;
const nextBatch = () => {
  const records = Array.from({ length: RECORDS }, (_, i) => ({
    id: `load-${batches}-${i}`,
    type: 'event',
    body: {
      project: 'load',
      channel: 'web',
      event: 'Order placed',
      user_id: `user-${i}`,
      tags: { total: 42, currency: 'EUR' },
      timestamp: new Date().toISOString(),
    },
  }));
  batches++;
  return JSON.stringify({ sent_at: new Date().toISOString(), records });
};

const cpuMs = async () => (await fetch(`${relay.url}/cpu`)).json();

try {
  const cpuBefore = await cpuMs();
  let delivered = 0;
  const result = await autocannon({
    url: `${relay.url}/a/v1/batch`,
    method: 'POST',
    connections: CONNECTIONS,
    duration: SECONDS,
    headers: { 'content-type': 'application/json', origin: ORIGIN },
    requests: [
      {
        setupRequest: (request) => ({ ...request, body: nextBatch() }),
        onResponse: (_, body) => {
          const { results = [] } = JSON.parse(body);
          delivered += results.filter(({ outcome }) => outcome === 'delivered').length;
        },
      },
    ],
  });
  const answer = await fetch(`${service.url}/_/events?project=load&limit=1`);
  const { total } = await answer.json();
  const cpuPerRecord = ((await cpuMs()) - cpuBefore) / total;
  console.log(`batches/s    ${result.requests.average.toFixed(1)} of ${RECORDS} records`);
  console.log(`records/s    ${Math.round(delivered / SECONDS)}`);
  console.log(`latency ms   p50 ${result.latency.p50}, p99 ${result.latency.p99}`);
  console.log(`relay CPU    ${cpuPerRecord.toFixed(2)} ms a record`);
  console.log(`delivered    ${delivered}, stored ${total}`);
  // What was on the way as the time was over may be stored without an answer.
  const isGood = result.non2xx === 0 && result.errors === 0 && delivered > 0 && total >= delivered;
  if (!isGood) console.error(`FAILED: ${result.non2xx} not 2xx, ${result.errors} errors`);
  process.exitCode = isGood ? 0 : 1;
} finally {
  await relay.stop();
  await service.stop();
  rmSync(folder, { recursive: true });
}
