import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startService } from '../../../demo/server/start-service';
import { buildProgram } from './helpers/build-program';
import { runProgram } from './helpers/run-program';
import { runService } from './helpers/run-service';
import { createClient, event, TOKEN, type Client } from './helpers/service-client';
import { tempFolder } from '../../support/temp-folder';

const SENDERS = 16;
const ENOUGH = 400;

/** Sends events one after the other until the service is gone; notes each one acknowledged. */
async function sendUntilGone(client: Client, prefix: string, acknowledge: (name: string) => void) {
  for (let n = 0; ; n += 1) {
    const name = `${prefix}-${n}`;
    try {
      const response = await client.post('/v1/event', { ...event, event: name });
      if (response.ok) acknowledge(name);
    } catch {
      return;
    }
  }
}

test('loses no acknowledged event when it is killed under load', async () => {
  const database = join(tempFolder(), 'service.db');
  const program = runProgram(await buildProgram(), { PORT: '0', DATABASE: database });
  const client = createClient(await program.url);
  const acknowledged = new Set<string>();
  const acknowledge = (name: string) => {
    acknowledged.add(name);
    if (acknowledged.size === ENOUGH) program.kill('SIGKILL');
  };
  await Promise.all(
    Array.from({ length: SENDERS }, (_, n) => sendUntilGone(client, `sender${n}`, acknowledge)),
  );
  expect(await program.exited).toEqual([null, 'SIGKILL']);

  const again = await startService({ port: 0, database, tokens: [TOKEN] });
  onTestFinished(again.close);
  const { events } = await createClient(again.url).list('events', '?limit=10000');
  const stored = events.map((row) => row.event as string);
  expect(acknowledged.size).toBeGreaterThanOrEqual(ENOUGH);
  expect([...acknowledged].filter((name) => !stored.includes(name))).toEqual([]);
  expect(new Set(stored).size).toBe(stored.length);
});

test.each(['SIGTERM', 'SIGINT'] as const)('ends by itself on %s', async (signal) => {
  const database = join(tempFolder(), 'service.db');
  const program = runProgram(await buildProgram(), { PORT: '0', DATABASE: database });
  await createClient(await program.url).post('/v1/event', event);
  program.kill(signal);
  expect(await program.exited).toEqual([0, null]);
});

test('says so and ends with 1 when the port given is taken', async () => {
  const { port } = await runService();
  const database = join(tempFolder(), 'service.db');
  const program = runProgram(await buildProgram(), { PORT: String(port), DATABASE: database });
  expect(await program.exited).toEqual([1, null]);
  expect(program.output()).toBe(`Port ${port} is taken. Set PORT to another one.\n`);
});

test('says so and ends with 1 when PORT is no port', async () => {
  const program = runProgram(await buildProgram(), { PORT: 'x' });
  expect(await program.exited).toEqual([1, null]);
  expect(program.output()).toBe('PORT must be a number from 0 to 65535, not "x"\n');
});

test('does nothing when it is imported', async () => {
  const before = process.listenerCount('SIGTERM');
  const main = await import('../../../demo/server/main');
  expect(Object.keys(main).sort()).toEqual(['runService', 'startService']);
  expect(process.listenerCount('SIGTERM')).toBe(before);
});
