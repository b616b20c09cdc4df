/**
/**
 * What strangers can do to the others: each attack runs for some seconds against the program over a file, while other
 * visitors go on. None of these is refused or waits for long, and the relay neither ends nor takes more memory than it
 * may. `CASES` picks some by name. On Linux, for the memory. Attacks take all of a machine, so they are for the night.
 */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  addressesOf300,
  addressesOfOne,
  flood as floodFrom,
  ofOneNetwork,
  ofTwelveNetworks,
  servedBeside,
} from '../test/support/strangers.js';
import { MANIFEST } from './support/entries.js';
import { FOLDER, INSTALLED } from './support/install.js';
import { startProgram } from './support/program.js';
import { ORIGIN } from './support/service.js';
import { until } from './support/until.js';

const SECONDS = Number(process.env.SECONDS ?? 5);
const MIB = 1_048_576;
/** What others may wait for, and what the relay may take: generous, because the machine may be busy. */
const [MOST_P99_MS, MOST_LATE_MS, MOST_RSS_MIB] = [2_000, 10_000, 600];
const STRANGER = '192.0.2.66';

interface Relay {
  url: string;
}

/** What the service answers 500. */
const BAD = 'bad';
/** When each other record was first stored, by the name of its event. */
const stored = new Map<string, number>();
const service = createServer((request, response) => {
  let text = '';
  request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  request.on('end', () => {
    const { event = 'identify' } = JSON.parse(text) as { event?: string };
    if (event !== BAD && !stored.has(event)) stored.set(event, performance.now());
    response.writeHead(event === BAD ? 500 : 200).end('{"success":true}');
  });
});

let made = 0;
const nextId = () => `r${++made}`;
const eventOf = (id: string, event = id) => ({
  ...{ id, type: 'event', body: { project: 'shop', channel: 'web', event } },
});
const batchOf = (records: readonly object[]) =>
  JSON.stringify({ sent_at: '2026-01-01T00:00:00.000Z', records });

const post = async (
  { url }: Relay,
  client: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<number> => {
  const response = await fetch(`${url}/v1/batch`, {
    method: 'POST',
    headers: { origin: ORIGIN, 'content-type': 'application/json', 'x-client': client, ...headers },
    body,
  });
  await response.arrayBuffer();
  return response.status;
};

/** Does something again and again, so many at a time, until the time is over. */
const flood = async (connections: number, work: (n: number) => Promise<unknown>) => {
  const end = performance.now() + SECONDS * 1_000;
  const one = async () => {
    for (let n = 0; performance.now() < end; n++) await work(n).catch(() => sleep(50));
  };
  await Promise.all(Array.from({ length: connections }, one));
};

const GZIP = { 'content-encoding': 'gzip' };
const zipped = (text: string) => new Uint8Array(gzipSync(text));
const HUGE = zipped(`{"a":[${Array(349_000).fill('{}').join(',')}]}`);

const CASES: Record<string, (relay: Relay) => Promise<unknown>> = {
  'user ids of 1,000,000 characters': (relay) =>
    flood(4, () => {
      const user = { project: 'shop', user_id: `${nextId()}-`.padEnd(1_000_000, 'x') };
      const record = { id: nextId(), type: 'identify', body: { ...user, properties: {} } };
      return post(relay, STRANGER, zipped(batchOf([record])), GZIP);
    }),
  'a megabyte of {} in a kilobyte': (relay) => flood(60, () => post(relay, STRANGER, HUGE, GZIP)),
  'the same, from 60 clients': (relay) =>
    flood(60, (n) => post(relay, `198.51.100.${n % 60}`, HUGE, GZIP)),
  'batches with wrong JSON': (relay) => flood(20, () => post(relay, STRANGER, '{'.repeat(100_000))),
  '50 records a second that the service answers 500': (relay) =>
    flood(1, async () => {
      const records = Array.from({ length: 50 }, () => eventOf(nextId(), BAD));
      await post(relay, STRANGER, batchOf(records));
      await sleep(1_000);
    }),
  'half-sent bodies': async ({ url }) => {
    const head = [
      ...['POST /a/v1/batch HTTP/1.1', 'Host: x', `Origin: ${ORIGIN}`, `X-Client: ${STRANGER}`],
      ...['Content-Type: application/json', `Content-Length: ${MIB}`, '', ''],
    ].join('\r\n');
    const sockets = Array.from({ length: 100 }, () => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined);
      socket.write(head + 'x'.repeat(MIB - 1));
      return socket;
    });
    await sleep(SECONDS * 1_000);
    sockets.forEach((socket) => socket.destroy());
  },
  'pipelined requests for its health': async ({ url }) => {
    const workerData = { url, path: '/ready', seconds: SECONDS };
    await once(new Worker(new URL('support/pour.mjs', import.meta.url), { workerData }), 'exit');
  },
};

/** Visitors with a batch of five records each, 20 a second, until they are told to stop. */
const startVisitors = (relay: Relay) => {
  const waits: number[] = [];
  const sent = new Map<string, number>();
  let refused = 0;
  let isOver = false;
  const visit = async (n: number) => {
    const records = Array.from({ length: 5 }, () => eventOf(nextId()));
    const began = performance.now();
    const status = await post(relay, `203.0.113.${n % 250}`, batchOf(records)).catch(() => 0);
    waits.push(performance.now() - began);
    if (status === 200) for (const { id } of records) sent.set(id, began);
    else refused++;
  };
  const going = (async () => {
    const visits: Promise<void>[] = [];
    for (let n = 0; !isOver; n++) {
      visits.push(visit(n));
      await sleep(50);
    }
    await Promise.all(visits);
  })();
  return async () => {
    isOver = true;
    await going;
    waits.sort((a, b) => a - b);
    return { p99: waits[Math.floor(waits.length * 0.99)]!, sent, refused };
  };
};

const peakMibOf = (pid: number) =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;

describe.skipIf(process.platform !== 'linux')('others go on beside', () => {
  beforeAll(async () => {
    await once(service.listen(0, '127.0.0.1'), 'listening');
  });
  afterAll(() => {
    service.closeAllConnections();
    service.close();
  });

  const picked = Object.entries(CASES).filter(([name]) => name.includes(process.env.CASES ?? ''));
  it.each(picked)('%s', async (name, attack) => {
    const { port } = service.address() as AddressInfo;
    const program = join(INSTALLED, MANIFEST.bin['analytics-outbox']!);
    const running = startProgram({
      ...{ command: [process.execPath, '--max-old-space-size=512', program], folder: FOLDER },
      env: {
        ...{ SERVICE_URL: `http://127.0.0.1:${port}`, SERVICE_TOKEN: 't', SITE_ORIGIN: ORIGIN },
        ...{ PROJECTS: 'shop', CHANNELS: 'web', HOST: '127.0.0.1' },
        ...{ DATA_FOLDER: mkdtempSync(join(tmpdir(), 'attacks-')), READ_TOKEN: 'token-of-readers' },
        ...{ PORT: '0', CLIENT_ADDRESS_HEADER: 'x-client' },
      },
    });
    try {
      const [, address] = await running.says(/listens at (http:[\w.:/]+)/);
      const relay = { url: `${address}/a` };
      const stop = startVisitors(relay);
      await attack(relay);
      const { p99, sent, refused } = await stop();
      await until(() => [...sent.keys()].every((id) => stored.has(id)), 'all to be stored');
      expect(running.isAlive()).toBe(true);
      const late = Math.max(...[...sent].map(([id, began]) => stored.get(id)! - began));
      console.log(`${name}: p99 ${p99.toFixed(0)} ms, stored within ${late.toFixed(0)} ms`);
      expect(refused).toBe(0);
      expect(p99).toBeLessThan(MOST_P99_MS);
      expect(late).toBeLessThan(MOST_LATE_MS);
      expect(peakMibOf(running.pid)).toBeLessThan(MOST_RSS_MIB);
    } finally {
      await running.kill();
    }
  });
});

describe.skipIf(process.platform !== 'linux')('other networks go on beside', () => {
  const NETWORKS = {
    'half-sent bodies of one /48': ofOneNetwork,
    'half-sent bodies of twelve /24s': ofTwelveNetworks,
    'records of a /24 of 200 addresses': floodFrom(addressesOfOne, 100),
    'records of 300 /24s': floodFrom(addressesOf300, 100),
  };
  const picked = Object.entries(NETWORKS).filter(([name]) =>
    name.includes(process.env.CASES ?? ''),
  );
  it.each(picked)('%s', async (name, attack) => {
    const folder = mkdtempSync(join(tmpdir(), 'attacks-'));
    const running = startProgram({
      command: [
        ...[process.execPath, '--max-old-space-size=512'],
        join(INSTALLED, MANIFEST.bin['analytics-outbox']!),
      ],
      folder: FOLDER,
      env: {
        ...{ DATA_FOLDER: folder, SITE_ORIGIN: ORIGIN, PROJECTS: 'shop', CHANNELS: 'web' },
        ...{ HOST: '127.0.0.1', PORT: '0', TRUSTED_PROXIES: '1' },
      },
    });
    try {
      const [, address] = await running.says(/listens at (http:[\w.:/]+)/);
      const site = { url: `${address}/a`, origin: ORIGIN, project: 'shop', channel: 'web' };
      const served = await servedBeside(site, attack, { seconds: 4 * SECONDS, slowMs: 8_000 });
      console.log(`${name}: ${JSON.stringify(served)}`);
      for (const share of Object.values(served)) expect(share).toBeGreaterThanOrEqual(0.95);
      expect(running.isAlive()).toBe(true);
      expect(peakMibOf(running.pid)).toBeLessThan(MOST_RSS_MIB);
    } finally {
      await running.kill();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
