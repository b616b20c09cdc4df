import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { expect, onTestFinished } from 'vitest';
import { createRelay, type RelayOptions } from '../../../src/relay.js';
import { runService } from '../../demo/server/helpers/run-service.js';
import { TOKEN } from '../../demo/server/helpers/service-client.js';

export const ORIGIN = 'https://shop.example';

/** What a raw socket came to. */
export interface RawAnswer {
  status: number;
  text: string;
  /** Bytes of the body that the other side could be made to take. */
  written: number;
}

/**
 * Runs a relay on Node's own HTTP server in front of the demo service, until the test ends. Then no byte
 * of any answer may have held the token.
 */
export async function runRelay(
  options: Partial<RelayOptions> = {},
  { faults = false }: { faults?: boolean } = {},
) {
  const service = await runService({ faults });
  const answers: string[] = [];
  const relay = createRelay({
    baseUrl: service.url,
    token: TOKEN,
    origins: [ORIGIN],
    projects: ['p'],
    channels: ['c'],
    clientAddress: () => '192.0.2.1',
    ...options,
  });
  const listener = getRequestListener(
    async (request) => {
      const response = await relay(request);
      const { status, headers } = response;
      answers.push(
        [status, JSON.stringify([...headers]), await response.clone().text()].join('\n'),
      );
      return response;
    },
    { overrideGlobalObjects: false },
  );
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    expect(answers.join('\n')).not.toContain(TOKEN);
  });

  const post = (path: string, body: unknown, headers: Record<string, string | null> = {}) => {
    const all = { origin: ORIGIN, 'content-type': 'application/json', ...headers };
    const sent =
      body instanceof Uint8Array || typeof body === 'string' ? body : JSON.stringify(body);
    return fetch(`http://127.0.0.1:${port}/a${path}`, {
      method: 'POST',
      headers: Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== null),
      body: typeof sent === 'string' ? new TextEncoder().encode(sent) : sent,
    } as RequestInit);
  };

  /**
   * Speaks HTTP by hand: the head as given, then pieces of a body for as long as there are some and the
   * other side takes them. Settles when the connection is closed, or was answered and `pieces` are over.
   */
  const raw = (head: readonly string[], pieces: Iterable<Buffer>): Promise<RawAnswer> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1');
      const rest = pieces[Symbol.iterator]();
      let text = '';
      let written = 0;
      let isOver = false;
      const end = () => {
        socket.destroy();
        resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0), text, written });
      };
      const pump = (): void => {
        for (;;) {
          const { done, value } = rest.next();
          if (done) {
            isOver = true;
            if (text) end();
            return;
          }
          written += value.length;
          if (!socket.write(value)) return void socket.once('drain', pump);
        }
      };
      socket.on('data', (data) => {
        text += data.toString('latin1');
        if (isOver) end();
      });
      socket.on('error', () => {}); // written to after it was closed
      socket.on('close', end);
      socket.on('connect', () => {
        socket.write([...head, `Host: 127.0.0.1:${port}`, '', ''].join('\r\n'));
        pump();
      });
    });

  return {
    service,
    post,
    raw,
    batch: (records: readonly unknown[], headers?: Record<string, string | null>) =>
      post('/v1/batch', { sent_at: new Date().toISOString(), records }, headers),
    /** How many rows of all kinds stand at the service. */
    stored: async () => (await service.events()).length + (await service.identifies()).length,
  };
}
