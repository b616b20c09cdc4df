/** Kills the program while it waits for the answer to a message. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { MANIFEST } from './support/entries.js';
import { INSTALLED } from './support/install.js';
import { startProgram } from './support/program.js';
import { ORIGIN, postBatch } from './support/service.js';
import { until } from './support/until.js';

interface Received {
  title: string;
  sequence_id: string;
}

/** A receiver like ntfy, which answers nothing until it is told to. */
const startReceiver = async () => {
  const received: Received[] = [];
  const receiver = { received, url: '', answers: false };
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    received.push(JSON.parse(text) as Received);
    if (receiver.answers) response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  receiver.url = `ntfy+http://127.0.0.1:${(server.address() as AddressInfo).port}/orders-topic`;
  return receiver;
};

it('a message is sent again as it was when the program is killed, and the rows after it once', async () => {
  const receiver = await startReceiver();
  const folder = mkdtempSync(join(tmpdir(), 'notify-crash-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const start = async () => {
    const file = join(INSTALLED, MANIFEST.bin['analytics-outbox']!);
    const program = startProgram({
      ...{ command: [process.execPath, file], folder },
      env: {
        ...{ DATA_FOLDER: folder, PORT: '0', SITE_ORIGIN: ORIGIN },
        ...{ NOTIFY: receiver.url, NOTIFY_EVENTS: 'shop/*/*' },
      },
    });
    onTestFinished(program.kill);
    const [, url] = await program.says(/listens at (http:[\w.:/]+)/);
    let sent = 0;
    return {
      kill: program.kill,
      ring: async (event: string, count: number) => {
        const records = Array.from({ length: count }, () => ({
          ...{ id: `${event}-${++sent}`, type: 'event' as const },
          body: { project: 'shop', channel: 'web', event, notify: true },
        }));
        expect((await postBatch(`${url}/a`, records)).status).toBe(200);
      },
    };
  };
  const { received } = receiver;
  const first = await start();
  await first.ring('Paid', 3);
  await until(() => received.length === 1, 'the first message');
  await first.kill();
  receiver.answers = true;
  const second = await start();
  await second.ring('Shipped', 1);
  // The lock of the process that was killed ends half a minute after it.
  await until(() => received.length === 3, 'the messages of the second process');
  expect(received.map(({ title }) => title)).toEqual([
    '3 × Paid in the last minute',
    '3 × Paid in the last minute',
    'Shipped',
  ]);
  expect(received[1]!.sequence_id).toBe(received[0]!.sequence_id);
});
