import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { createService, type PageFile } from '../../src/service.js';
import { createLibsqlStore } from '../../src/service-libsql.js';
import type { Incoming, NewRefused } from '../../src/service/store/port.js';
import { DIST_FOLDER } from './dist.js';

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
};

const builtPage = (file: string): PageFile => ({
  body: readFileSync(join(DIST_FOLDER, 'rows', file), 'utf8'),
  type: TYPES[file.split('.').at(-1)!]!,
});

const TOKEN = 'write-token';
let made = 0;

/** A record as it reaches the store: `event` with its tags, called a second before it came. */
export const incoming = (
  event: string,
  more: Record<string, unknown> = {},
  { late = 1000, ...rest }: Partial<Incoming> & { late?: number } = {},
): Incoming => {
  const at = Date.now();
  const calledAt = new Date(at - late).toISOString();
  const body = { project: 'shop', channel: 'web', event, timestamp: calledAt, ...more };
  const id = `record-${++made}`;
  return { id, type: 'event', body, calledAt, receivedAt: new Date(at).toISOString(), ...rest };
};

/** The service with its page, on a port of its own. */
export const createRowsService = async (
  folder: string,
  { tag, readToken }: { tag?: string; readToken?: string } = {},
) => {
  const path = join(folder, 'service.db');
  const start = (port = 0) => {
    const store = createLibsqlStore({ path });
    const service = createService({
      store,
      writeTokens: [{ token: TOKEN, projects: ['shop', 'docs'] }],
      ...{ page: builtPage, readToken },
      ...{ rateLimit: false, ceiling: false, clientAddress: () => '127.0.0.1' },
      ...(tag !== undefined && { tag }),
    });
    const server = createServer(getRequestListener(service));
    return new Promise<{
      store: typeof store;
      url: string;
      port: number;
      end: () => Promise<void>;
    }>((resolve) => {
      server.listen(port, '127.0.0.1', () => {
        const bound = (server.address() as AddressInfo).port;
        const end = async (): Promise<void> => {
          server.closeAllConnections();
          await new Promise((done) => server.close(done));
          await service.close();
        };
        resolve({ store, url: `http://127.0.0.1:${bound}`, port: bound, end });
      });
    });
  };
  let running = await start();
  const { url, port } = running;

  return {
    url,
    /** Rows that are stored at once, as a relay's batch is. */
    store: (...records: Incoming[]) => running.store.write(records),
    refuse: (...refused: NewRefused[]) => running.store.refuse(refused),
    /** One request of a client. */
    post: (path: string, body: unknown, token = TOKEN) =>
      fetch(url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    preflight: () => fetch(`${url}/v1/event`, { method: 'OPTIONS' }),
    /** Is away for as long as this takes. */
    away: async (meanwhile: () => Promise<void>): Promise<void> => {
      await running.end();
      await meanwhile();
      running = await start(port);
    },
    stop: () => running.end(),
  };
};

export type RowsService = Awaited<ReturnType<typeof createRowsService>>;
