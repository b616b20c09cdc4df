/**
 * What open `/rows` cost beside the intake of a service over a file: the CPU of the one process for 1,000 records that
 * come at 500 a second, and how many records a second it takes at the most. The pages are read within the process, so
 * that no HTTP client shares the machine. Run after the build.
 *
 *     node bench/followers.mjs                        0, 20 and 100 open pages
 *     node bench/followers.mjs --followers 0,200 --seconds 20
 *     node bench/followers.mjs --filtered             each page has a filter of its own
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createLibsqlStore } from '../dist/service-libsql.js';
import { createService } from '../dist/service.js';

const { values: given } = parseArgs({
  options: {
    followers: { type: 'string', default: '0,20,100' },
    seconds: { type: 'string', default: '10' },
    filtered: { type: 'boolean', default: false },
  },
});
const SECONDS = Number(given.seconds);
const [RATE, BATCH] = [500, 50];
const ADDRESS = 'http://localhost';

let made = 0;
const send = async (service) => {
  const records = Array.from({ length: BATCH }, () => {
    const n = made++;
    const user = { project: 'shop', channel: 'web', user_id: `user-${n % 5_000}` };
    const body = { ...user, event: 'Order placed', tags: { total: 42, currency: 'EUR' } };
    return { id: `record-${n}`, type: 'event', body };
  });
  const headers = { authorization: 'Bearer t', 'content-type': 'application/json' };
  const body = JSON.stringify({ sent_at: new Date().toISOString(), records });
  const init = { method: 'POST', headers, body };
  const response = await service(new Request(`${ADDRESS}/v1/batch`, init));
  if (response.status !== 200) throw new Error(`a batch was answered ${response.status}`);
  await response.arrayBuffer();
};

/** Opens a page and reads what it gets. Of each chunk only the last place is looked at, which costs next to nothing. */
const follow = async (service, n) => {
  const filter = given.filtered ? `&not=Nothing%20${n}&text=order` : '';
  const response = await service(new Request(`${ADDRESS}/rows?format=sse${filter}`));
  let place = 0;
  const read = async () => {
    for await (const chunk of response.body) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
      const at = bytes.lastIndexOf('id: ');
      if (at >= 0) place = Number.parseInt(bytes.toString('latin1', at + 4, at + 20), 10);
    }
  };
  return { ended: read(), place: () => place };
};

/** What this process has used since then. */
const cpuMs = (since) => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1_000;
};

const measure = async (followers) => {
  const folder = mkdtempSync(join(tmpdir(), 'followers-'));
  const service = createService({
    store: createLibsqlStore({ path: join(folder, 'service.db') }),
    writeTokens: [{ token: 't', projects: '*' }],
    ...{ rateLimit: false, ceiling: false },
  });
  const before = made; // the places of this store begin with 1
  for (let n = 0; n < 20; n++) await send(service);
  const pages = await Promise.all(Array.from({ length: followers }, (_, n) => follow(service, n)));
  const startedAt = performance.now();
  const cpu = process.cpuUsage();
  const paced = SECONDS * RATE;
  for (let sent = 0; sent < paced; sent += BATCH) {
    await send(service);
    await sleep(Math.max(0, startedAt + ((sent + BATCH) / RATE) * 1_000 - performance.now()));
  }
  const pacedCpu = (cpuMs(cpu) / paced) * 1_000;

  const from = performance.now();
  let most = 0;
  while (performance.now() - from < SECONDS * 1_000) {
    await send(service);
    most += BATCH;
  }
  const rate = most / ((performance.now() - from) / 1_000);
  const arrived = () => pages.every(({ place }) => place() === made - before);
  for (let n = 0; n < 100 && !arrived(); n++) await sleep(100);
  const all = arrived();
  await service.close();
  await Promise.all(pages.map(({ ended }) => ended));
  rmSync(folder, { recursive: true });
  return { pacedCpu, rate, all };
};

for (const followers of given.followers.split(',').map(Number)) {
  const { pacedCpu, rate, all } = await measure(followers);
  const row = [
    `${followers} pages`.padEnd(10),
    `${pacedCpu.toFixed(0)} ms of CPU for 1,000 records at ${RATE}/s`,
    `at the most ${Math.round(rate)} records/s`,
    all ? 'each page came to the last row' : 'SOME PAGES DID NOT COME TO THE LAST ROW',
  ];
  console.log(row.join('   '));
}
