import { expect, it, onTestFinished, vi } from 'vitest';
import { serveRelay } from '../../src/program/serve-relay.js';
import { runService } from '../demo/server/helpers/run-service.js';
import { TOKEN } from '../demo/server/helpers/service-client.js';
import { tempFolder } from '../demo/server/helpers/temp-folder.js';
import { event } from '../relay/helpers/records.js';

const ORIGIN = 'https://shop.example';

it('serves over a folder, says once a minute what has passed, and stops when it is told to', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const service = await runService();
  const lines: string[] = [];
  const errors: string[] = [];
  const log = {
    info: (line: string) => lines.push(line),
    error: (line: string) => errors.push(line),
  };
  const settings = {
    ...{ baseUrl: service.url, token: TOKEN, origins: [ORIGIN], projects: ['p'], channels: ['c'] },
    ...{ storeUrl: `file:${tempFolder()}`, port: 0, addressHeader: undefined },
  };
  const served = serveRelay(settings, log);
  const url = await vi.waitUntil(() => /http:\S+/.exec(lines.join())?.[0]);

  const send = (records: readonly object[]) =>
    fetch(`${url}/a/v1/batch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: ORIGIN },
      body: JSON.stringify({ sent_at: new Date().toISOString(), records }),
    });
  expect((await send([event('a'), event('b')])).status).toBe(200);
  await vi.waitUntil(async () => (await service.events()).length === 2);
  vi.advanceTimersByTime(60_000);
  expect(lines[1]).toMatch(/^in: 2 accepted; out: (2 delivered|nothing); \d+ waiting, 0 dead$/);
  vi.advanceTimersByTime(60_000);
  expect(lines[2]).toMatch(/^in: nothing; out: /);

  process.emit('SIGTERM');
  await served;
  expect(lines.at(-1)).toMatch(/^stopped\. in: nothing; out: /);
  expect(errors).toEqual([]);
  await expect(send([event('c')])).rejects.toThrow();
});

it('counts a client by the header that the proxy writes', async () => {
  const service = await runService();
  const lines: string[] = [];
  const log = { info: (line: string) => lines.push(line), error: () => {} };
  const served = serveRelay(
    {
      ...{
        baseUrl: service.url,
        token: TOKEN,
        origins: [ORIGIN],
        projects: ['p'],
        channels: ['c'],
      },
      ...{ storeUrl: `file:${tempFolder()}`, port: 0, addressHeader: 'x-real-ip' },
    },
    log,
  );
  const url = await vi.waitUntil(() => /http:\S+/.exec(lines.join())?.[0]);
  const foreign = (n: number) => ({ ...event(`f${n}`), body: { project: 'x' } });
  const body = JSON.stringify({
    sent_at: new Date().toISOString(),
    records: Array.from({ length: 100 }, (_, n) => foreign(n)),
  });
  const send = (address: string) =>
    fetch(`${url}/a/v1/batch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: ORIGIN, 'x-real-ip': address },
      body,
    });
  const flood = await Promise.all(Array.from({ length: 15 }, () => send('192.0.2.1')));
  expect(flood.some(({ status }) => status === 429)).toBe(true);
  expect((await send('192.0.2.2')).status).toBe(200);
  process.emit('SIGTERM');
  await served;
});
