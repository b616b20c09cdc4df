import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { BatchRecord } from '../../src/interface/wire.js';
import { serveRelay } from '../../src/program/serve-relay.js';
import { readSettings } from '../../src/program/settings.js';
import { openStore } from '../../src/program/store.js';
import { event } from '../relay/helpers/records.js';
import { tempFolder } from '../support/temp-folder.js';

const ORIGIN = 'https://shop.example';
const WITHIN_MS = 30_000;

/** A service that judges events by their names, and counts its answers. */
const startService = async () => {
  const answers = new Map<number, number>();
  const stored = new Set<string>();
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const { event: name } = JSON.parse(text) as { event: string };
    const status = name.startsWith('refused') ? 400 : name.startsWith('failing') ? 500 : 200;
    if (status === 200) stored.add(name);
    answers.set(status, (answers.get(status) ?? 0) + 1);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(status === 200 ? { success: true } : { code: status }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, answers, stored };
};

it('tells in metrics, health and log what is in the store and at the service', async () => {
  const service = await startService();
  const storeUrl = `file:${tempFolder()}`;
  const settings = readSettings({
    ...{ SERVICE_URL: service.url, SERVICE_TOKEN: 't', SITE_ORIGIN: ORIGIN, STORE_URL: storeUrl },
    ...{ PROJECTS: 'p', CHANNELS: 'c', HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '0' },
    ...{ CLIENT_ADDRESS_HEADER: 'x-real-ip', RATE_LIMIT: '0.001/40' },
  });
  const lines: string[] = [];
  const errors: string[] = [];
  const served = serveRelay(settings, {
    info: (line) => lines.push(line),
    error: (line) => errors.push(line),
  });
  const urls = () => lines.flatMap((line) => /http:\S+/.exec(line) ?? []);
  await vi.waitUntil(() => urls().length === 2, WITHIN_MS);
  const [url, adminUrl] = urls();

  const answered = new Map<string, number>();
  const send = async (client: string, records: readonly BatchRecord[], origin = ORIGIN) => {
    const response = await fetch(`${url}/a/v1/batch`, {
      method: 'POST',
      headers: { origin, 'content-type': 'application/json', 'x-real-ip': client },
      body: JSON.stringify({ sent_at: '', records }),
    });
    const status = String(response.status);
    answered.set(status, (answered.get(status) ?? 0) + 1);
  };
  const named = (name: string, count: number) =>
    Array.from({ length: count }, (_, n) => event(`${name}-${n}`));
  const good = named('good', 20);
  const unlisted = named('unlisted', 2).map((one) => ({
    ...{ ...one, body: { ...one.body, channel: 'other' } },
  }));
  await send('192.0.2.1', good);
  await send('192.0.2.1', [...good.slice(0, 5), ...named('refused', 3)]); // five of them again
  await send('192.0.2.2', [...named('failing', 2), ...unlisted, { ...event('wrong'), body: {} }]);
  await send('192.0.2.3', named('many', 50)); // more than it may at once: it has to wait now
  for (let n = 0; n < 3; n++) await send('192.0.2.3', named(`late-${n}`, 10));
  await send('192.0.2.4', named('foreign', 4), 'https://evil.example');

  const numbers = async () => {
    const text = await (await fetch(`${adminUrl}/metrics`)).text();
    const rows = [...text.matchAll(/^analytics_relay_(\S+) (\S+)$/gm)];
    return new Map(rows.map(([, name, value]) => [name!, Number(value)]));
  };
  await vi.waitUntil(
    async () =>
      (await numbers()).get('records_total{side="out",outcome="delivered"}') === 70 &&
      (service.answers.get(500) ?? 0) >= 4 &&
      service.answers.get(400) === 3,
    WITHIN_MS,
  );
  const told = await numbers();
  const sum = (name: string) => told.get(name) ?? 0;
  expect(service.stored.size).toBe(70);
  expect(Object.fromEntries(answered)).toEqual({ 200: 4, 429: 3, 403: 1 });
  for (const [status, count] of answered)
    expect([status, sum(`requests_total{route="batch",status="${status}"}`)]).toEqual([
      ...[status, count],
    ]);
  expect(sum('rate_limited_total{limit="client"}')).toBe(3);
  expect(sum('seen_hits_total')).toBe(5);
  const inside = ['accepted', 'blocked', 'rejected', 'retry'].map((outcome) =>
    sum(`records_total{side="in",outcome="${outcome}"}`),
  );
  expect(inside).toEqual([80, 2, 1, 0]);
  expect(sum('records_total{side="out",outcome="rejected"}')).toBe(3);
  expect(sum('upstream_seconds_count{status="200"}')).toBe(70);
  expect(sum('upstream_seconds_count{status="400"}')).toBe(3);
  const health = (await (await fetch(`${adminUrl}/health`)).json()) as object;
  expect(health).toMatchObject({
    status: 'ok',
    service: { status: 'ok', refusing: { whose: 'one client', records: 2 } },
  });

  process.emit('SIGTERM');
  await served;
  const retried = service.answers.get(500)!;
  expect(lines.at(-1)).toBe(
    `stopped. in: 80 accepted, 2 blocked, 1 rejected; out: 70 delivered, 3 rejected, ${retried} retry; 2 waiting, 3 dead`,
  );
  expect(errors.filter((line) => line.startsWith('dead letter')).sort()).toEqual(
    named('refused', 3).map(({ id }) => `dead letter: event ${id} rejected 400`),
  );
  const store = await openStore(storeUrl);
  onTestFinished(store.close);
  expect(await store.queue.size!()).toMatchObject({ waiting: 2, dead: 3 });
  const dead = await store.queue.deadLetters.list();
  expect(dead.map(({ record }) => record.id).sort()).toEqual(
    named('refused', 3).map(({ id }) => id),
  );
}, 90_000);
