import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { getRequestListener } from '@hono/node-server';
import { createRowsPage } from '../../src/program/rows-page.js';
import { createService } from '../../src/service.js';
import { createLibsqlStore } from '../../src/service-libsql.js';
import type { Incoming } from '../../src/server/incoming.js';
import type { NewRefused } from '../../src/server/store/port.js';
import { DIST_FOLDER } from './dist.js';

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
  return {
    ...{ id, type: 'event', body, text: JSON.stringify(body) },
    ...{ calledAt, receivedAt: new Date(at).toISOString(), ...rest },
  };
};

/** The service with its page, on a port of its own. `place` is a path that a proxy in front of it cuts off. */
export const createRowsService = async (
  folder: string,
  { tag, readToken, place = '' }: { tag?: string; readToken?: string; place?: string } = {},
) => {
  const path = join(folder, 'service.db');
  const start = async (port = 0) => {
    const store = createLibsqlStore({ path });
    const service = createService({
      store,
      writeTokens: [{ token: TOKEN, projects: ['shop', 'docs'] }],
      ...{ page: createRowsPage(pathToFileURL(`${DIST_FOLDER}/rows/`)), readToken },
      ...(readToken && { readTokens: [{ token: `${readToken}-of-docs`, project: 'docs' }] }),
      tokenFile: '/data/write-token',
      ...{ rateLimit: false, ceiling: false, clientAddress: () => '127.0.0.1' },
      ...(tag !== undefined && { tag }),
    });
    const listener = getRequestListener(service);
    const server = createServer((request, response) => {
      request.url = request.url!.slice(place.length);
      void listener(request, response);
    });
    await once(server.listen(port, '127.0.0.1'), 'listening');
    const end = async (): Promise<void> => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      await service.close();
    };
    return { store, end, port: (server.address() as AddressInfo).port };
  };
  let running = await start();
  const { port } = running;
  const url = `http://127.0.0.1:${port}${place}`;

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
    preflight: () => {
      const headers = { 'access-control-request-method': 'POST' };
      return fetch(`${url}/v1/event`, { method: 'OPTIONS', headers });
    },
    /** Cannot store rows for this reason, until what it returns is called. */
    fail: (words: string): (() => void) => {
      const { write, check } = running.store;
      const reject = () => Promise.reject(new Error(words));
      Object.assign(running.store, { write: reject, check: reject });
      return () => void Object.assign(running.store, { write, check });
    },
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
