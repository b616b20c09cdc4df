import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { BatchRecord } from '../../src/interface/wire.js';
import { createLibsqlStore } from '../../src/service-libsql.js';
import { event } from '../server/support/records.js';
import { runJudge, runProgram, settingsOf } from './support/run-program.js';

const WITHIN_MS = 30_000;

it('tells in metrics, health and log what is in the store and at the service', async () => {
  const service = await runJudge((name) =>
    name.startsWith('refused') ? 400 : name.startsWith('failing') ? 500 : 200,
  );
  const settings = settingsOf(service.url, {
    ...{ ADMIN_PORT: '0', CLIENT_ADDRESS_HEADER: 'x-real-ip', RATE_LIMIT: '0.001/40' },
    ...{ IGNORE_ADDRESSES: '192.0.2.8/30', GPC: 'drop' },
  });
  const { lines, errors, adminUrl, stop, send: post } = await runProgram(settings);
  const answered = new Map<string, number>();
  const send = async (client: string, records: readonly BatchRecord[], more = {}) => {
    const { status } = await post(records, { 'x-real-ip': client, ...more });
    answered.set(String(status), (answered.get(String(status)) ?? 0) + 1);
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
  await send('192.0.2.4', named('foreign', 4), { origin: 'https://evil.example' });
  await send('192.0.2.9', named('own', 3));
  await send('192.0.2.5', named('private', 2), { 'sec-gpc': '1' });

  const numbers = async () => {
    const text = await (await fetch(`${adminUrl}/metrics`)).text();
    const rows = [...text.matchAll(/^analytics_outbox_(\S+) (\S+)$/gm)];
    return new Map(rows.map(([, name, value]) => [name!, Number(value)]));
  };
  await vi.waitUntil(
    async () =>
      (await numbers()).get('records_total{side="out",outcome="delivered"}') === 70 &&
      service.answered(500).length >= 4 &&
      service.answered(400).length === 3,
    WITHIN_MS,
  );
  const told = await numbers();
  const sum = (name: string) => told.get(name) ?? 0;
  expect(new Set(service.answered(200)).size).toBe(70);
  expect(Object.fromEntries(answered)).toEqual({ 200: 6, 429: 3, 403: 1 });
  for (const [status, count] of answered)
    expect([status, sum(`requests_total{route="batch",status="${status}"}`)]).toEqual([
      ...[status, count],
    ]);
  expect(sum('rate_limited_total{limit="client"}')).toBe(3);
  expect(sum('repeats_total')).toBe(5);
  const outcomes = ['delivered', 'blocked', 'rejected', 'retry', 'ignored_address', 'ignored_gpc'];
  const inside = outcomes.map((outcome) => sum(`records_total{side="in",outcome="${outcome}"}`));
  expect(inside).toEqual([80, 2, 1, 0, 3, 2]);
  expect(sum('records_total{side="out",outcome="rejected"}')).toBe(3);
  expect(sum('upstream_seconds_count{status="200"}')).toBe(70);
  expect(sum('upstream_seconds_count{status="400"}')).toBe(3);
  const health = (await (await fetch(`${adminUrl}/health`)).json()) as object;
  expect(health).toMatchObject({
    status: 'ok',
    service: { status: 'ok', refusing: { whose: 'one client', records: 2 } },
  });

  await stop();
  const retried = service.answered(500).length;
  expect(lines.at(-1)).toBe(
    `stopped. in: 2 blocked, 80 delivered, 3 ignored_address, 2 ignored_gpc, 1 rejected; requests refused: 1 × 403, 3 × 429; out: 70 delivered, 3 rejected, ${retried} retry`,
  );
  expect(errors.filter((line) => line.startsWith('fault'))).toEqual([]);
  const store = createLibsqlStore({ path: join(settings.store.folder, 'rows.db') });
  onTestFinished(() => store.close());
  expect(await store.counts()).toMatchObject([{ rows: 75 }]);
  expect(await store.progress.targets()).toMatchObject([{ name: 'service', parked: 2, dead: 3 }]);
  const dead = await store.progress.dead('service', 0, 10);
  const rows = await Promise.all(
    dead.map(({ place }) => store.rows({}, { after: place - 1, limit: 1 })),
  );
  expect(rows.flat().map(({ id }) => id)).toEqual(named('refused', 3).map(({ id }) => id));
}, 90_000);
