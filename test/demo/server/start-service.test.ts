import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { GRACE_MS } from '../../../demo/server/close-gracefully';
import { startService } from '../../../demo/server/start-service';
import { runService } from './helpers/run-service';
import { createClient, event, TOKEN } from './helpers/service-client';
import { tempFolder } from '../../support/temp-folder';

/** A request that sends its body only when the service asks for it: then it is being handled. */
const askToPost = ({ url }: { url: string }) =>
  request(`${url}/v1/event`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      expect: '100-continue',
    },
  });

test('rejects when the port is taken', async () => {
  const { port } = await runService();
  const database = join(tempFolder(), 'other.db');
  await expect(startService({ port, database, tokens: [TOKEN] })).rejects.toMatchObject({
    code: 'EADDRINUSE',
  });
});

test('takes the next free port when asked to', async () => {
  const { port } = await runService();
  const database = join(tempFolder(), 'other.db');
  const other = await startService({ port, nextFree: true, database, tokens: [TOKEN] });
  onTestFinished(other.close);
  expect(other.port).toBeGreaterThan(port);
  expect((await createClient(other.url).list('events')).total).toBe(0);
});

test('creates the folder of the database', async () => {
  const database = join(tempFolder(), 'a', 'b', 'service.db');
  const service = await startService({ port: 0, database, tokens: [TOKEN] });
  onTestFinished(service.close);
  expect((await createClient(service.url).post('/v1/event', event)).status).toBe(200);
});

test('accepts each of its tokens', async () => {
  const database = join(tempFolder(), 'service.db');
  const service = await startService({ port: 0, database, tokens: ['one', 'two'] });
  onTestFinished(service.close);
  const { post } = createClient(service.url);
  for (const [token, status] of Object.entries({ one: 200, two: 200, three: 401 })) {
    const response = await post('/v1/event', event, { authorization: `Bearer ${token}` });
    expect(response.status).toBe(status);
  }
});

test('finds its records again after a restart', async () => {
  const first = await runService();
  await first.post('/v1/event', event);
  await first.close();
  const again = await startService({ port: 0, database: first.database, tokens: [TOKEN] });
  onTestFinished(again.close);
  expect(await createClient(again.url).events()).toHaveLength(1);
});

test('leaves the globals of the process alone', async () => {
  const before = [globalThis.Request, globalThis.Response];
  await runService();
  expect([globalThis.Request, globalThis.Response]).toEqual(before);
});

test('keeps an idle connection for minutes', async () => {
  const service = await runService();
  const response = await service.post('/v1/event', event);
  expect(response.headers.get('keep-alive')).toBe('timeout=310');
});

test('closes at once with idle, silent and hanging connections open', async () => {
  const service = await runService({ faults: true });
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  await new Promise((resolve, reject) => {
    const idle = request(`${service.url}/_/events`, { agent }, (response) => {
      response.resume().on('end', resolve);
    });
    idle.on('error', reject).end();
  });
  const silent = connect(service.port, '127.0.0.1');
  onTestFinished(() => void silent.destroy());
  await new Promise((resolve) => silent.on('connect', resolve));
  await service.setFaults({ hang: true });
  const ended = expect(service.post('/v1/event', event)).rejects.toThrow();
  await vi.waitFor(async () => expect(await service.requests()).toHaveLength(1));
  const start = performance.now();
  await service.close();
  await ended;
  expect(performance.now() - start).toBeLessThan(GRACE_MS);
});

test('answers what has arrived before it closes', async () => {
  const service = await runService();
  let closing: Promise<void> | undefined;
  const status = await new Promise((resolve, reject) => {
    const slow = askToPost(service);
    slow.on('error', reject);
    slow.on('response', (response) => resolve([response.statusCode, response.headers.connection]));
    slow.on('continue', () => {
      closing = service.close();
      slow.end(JSON.stringify(event));
    });
    slow.flushHeaders();
  });
  expect(status).toEqual([200, 'close']);
  await closing;
});

test('answers what arrives on an open connection while it closes', async () => {
  const service = await runService();
  const body = JSON.stringify(event);
  const late = connect(service.port, '127.0.0.1');
  onTestFinished(() => void late.destroy());
  let answer = '';
  late.on('data', (data) => (answer += String(data)));
  const head = `POST /v1/event HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${TOKEN}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n`;
  const early = askToPost(service);
  const answered = new Promise((resolve, reject) => {
    early.on('error', reject).on('response', (response) => response.resume().on('end', resolve));
  });
  late.write(head);
  await new Promise((resolve) => {
    early.on('continue', resolve).flushHeaders();
  });
  const closing = service.close();
  late.write(`expect: 100-continue\r\n\r\n`);
  await vi.waitFor(() => expect(answer).toContain('100 Continue'));
  early.end(body);
  await answered;
  const ended = new Promise((resolve) => late.on('close', resolve));
  late.write(body);
  await Promise.all([closing, ended]);
  expect(answer).toContain('HTTP/1.1 200');
  expect(answer).toMatch(/connection: close/i);
});

test('closes although a client never finishes its request', async () => {
  const service = await runService();
  await new Promise<void>((resolve) => {
    const stuck = askToPost(service);
    stuck.on('error', () => {});
    stuck.on('continue', () => resolve());
    stuck.flushHeaders();
  });
  await service.close();
});

test('answers 413 to a large length at once, whatever then comes', async () => {
  const service = await runService();
  const status = await new Promise((resolve, reject) => {
    const sent = request(`${service.url}/v1/event`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'content-type': 'application/json',
        'content-length': 1024 * 1024 + 1,
      },
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      resolve(response.statusCode);
      sent.destroy();
    });
    sent.write('{');
  });
  expect(status).toBe(413);
});

test('refuses a body longer than its length says', async () => {
  const service = await runService();
  const status = await new Promise((resolve, reject) => {
    const sent = request(`${service.url}/v1/event`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'content-type': 'application/json',
        'content-length': 10,
      },
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      resolve(response.statusCode);
      sent.destroy();
    });
    sent.end(JSON.stringify(event));
  });
  expect(status).toBe(400);
  expect(await service.events()).toEqual([]);
});
