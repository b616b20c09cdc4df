/**
 * The program passes rows on from a file, and is killed again and again. The service knows no keys. None is lost, none comes
 * twice but those that a killed program was sending, and identifies keep their order.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MANIFEST } from './support/entries.js';
import { INSTALLED, NIGHT } from './support/install.js';
import { startProgram } from './support/program.js';
import { BATCH, recordOf, takenOf, USERS } from './support/senders.js';
import { ORIGIN, TOKEN } from './support/service.js';
import { until } from './support/until.js';

const [RECORDS, KILLS] = NIGHT ? [20_000, 20] : [2_000, 4];
/** Requests to the service that one program has under way at the most. */
const CONCURRENCY = 32;

const folder = mkdtempSync(join(tmpdir(), 'pass-on-crash-'));
/** Each record that has come, with the number of the program that has sent it. */
const got: { n: number; isIdentify: boolean; by: number }[] = [];
let programs = 0;
/** A request may be read after its program was killed, so the connection says whose it was. */
const owners = new WeakMap<Socket, number>();
const service = createServer((request, response) => {
  const by = owners.get(request.socket)!;
  let text = '';
  request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  request.on('end', () => {
    const { tags, properties } = JSON.parse(text) as Record<string, Record<string, number>>;
    const n = tags ? tags['n']! : Object.values(properties!)[0]!;
    got.push({ n, isIdentify: !tags, by });
    response.end('{"success":true}');
  });
}).on('connection', (socket) => owners.set(socket, programs));

beforeAll(() => new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  service.closeAllConnections();
  service.close();
  rmSync(folder, { recursive: true, force: true });
});

const start = async () => {
  programs++;
  const program = startProgram({
    command: [process.execPath, join(INSTALLED, MANIFEST.bin['analytics-outbox']!)],
    folder,
    env: {
      SERVICE_URL: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
      ...{ SERVICE_TOKEN: TOKEN, SITE_ORIGIN: ORIGIN, PROJECTS: 'shop', CHANNELS: 'web' },
      ...{ HOST: '127.0.0.1', PORT: '0', RATE_LIMIT: 'off', CEILING: 'off' },
      ...{ DATA_FOLDER: folder, READ_TOKEN: 'token-of-readers', CONCURRENCY: String(CONCURRENCY) },
    },
  });
  const [, url] = await program.says(/listens at (http:[\w.:/]+)/);
  return { ...program, url: `${url}/a` };
};
const distinct = () => new Set(got.map(({ n }) => n)).size;

it(
  `loses none of ${RECORDS} rows in ${KILLS} kills, sends at most ${CONCURRENCY} of each kill twice, and keeps the order`,
  async () => {
    let program = await start();
    let sent = 0;
    const send = async (upto: number): Promise<void> => {
      for (; sent < upto; sent += BATCH) {
        const records = Array.from({ length: BATCH }, (_, i) => recordOf(sent + i));
        expect((await takenOf(program.url, records)).size).toBe(BATCH);
      }
    };
    for (let kill = 0; kill < KILLS; kill++) {
      await send(((kill + 1) * RECORDS) / KILLS);
      const before = got.length;
      // It goes on at once: the program before it has ended.
      const began = Date.now();
      await until(() => Promise.resolve(got.length > before + 50), 'some to be passed on');
      expect(Date.now() - began).toBeLessThan(15_000);
      await program.kill();
      program = await start();
    }
    await until(() => Promise.resolve(distinct() === RECORDS), 'all to be passed on');
    await program.stop();
    const firstBy = new Map<number, number>();
    const twiceOf = new Map<number, Set<number>>();
    for (const { n, by } of got) {
      const first = firstBy.get(n);
      if (first === undefined) firstBy.set(n, by);
      else twiceOf.set(first, (twiceOf.get(first) ?? new Set()).add(n));
    }
    const twice = [...twiceOf.values()].map(({ size }) => size);
    console.log(`sent twice, by the program that was killed: ${twice.join(' ')}`);
    expect(Math.max(0, ...twice)).toBeLessThanOrEqual(CONCURRENCY);
    for (let user = 0; user < USERS; user++) {
      const own = got.filter(({ n, isIdentify }) => isIdentify && n % USERS === user);
      const first = [...new Set(own.map(({ n }) => n))];
      expect(first).toEqual([...first].sort((a, b) => a - b));
    }
  },
  NIGHT ? 600_000 : 180_000,
);
