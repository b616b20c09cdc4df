import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { createClientAddress } from '../../src/program/client-address.js';
import { mount } from '../../src/program/mount.js';
import { readSettings } from '../../src/program/settings.js';
import { createLibsqlStore } from '../../src/service-libsql.js';
import { createFaults, createHeldRequests, type ServiceEnv } from './faults.js';
import { createGracefulClose, listen, ownUrl, type PortChoice } from './listen.js';
import { createDeleteRows, readingRoutes } from './reading-routes.js';

export interface StartOptions extends PortChoice {
  /** Path of the database file; created with its folder when missing. */
  database: string;
  /** The API tokens that are accepted. */
  tokens: readonly string[];
  /** @default '127.0.0.1' */
  host?: string | undefined;
  /** Adds the fault switch and the request log. @default false */
  faults?: boolean | undefined;
  /** Stores a repeat of an `Idempotency-Key` again: a service without that feature. @default false */
  ignoreKeys?: boolean | undefined;
}

export interface RunningService {
  url: string;
  port: number;
  /** The tag to paste into a page on this machine. */
  tag: string;
  /** Where the rows are shown: with the read token, where one is asked for. */
  rows: string;
  /** Answers a request that came in at another server, such as that of the demo's page. */
  listener: RequestListener;
  /** Answers what has arrived, then closes the port and the database. */
  close: () => Promise<void>;
}

/** The same folder seen from this file and from the built one. */
const DIST = new URL('../../dist/', import.meta.url);
// Longer than a browser keeps an idle connection: one closed under a request makes the browser send that request again
// by itself.
const KEEP_ALIVE_MS = 310_000;

const withoutKey = async (request: Request): Promise<Request> => {
  if (!request.headers.has('idempotency-key')) return request;
  const headers = new Headers(request.headers);
  headers.delete('idempotency-key');
  const { url, method } = request;
  return new Request(url, { method, headers, body: await request.arrayBuffer() });
};

/** The service's program with a fault switch around its two operations, without a port. */
const createService = async (options: StartOptions) => {
  const { database, tokens, host = '127.0.0.1', faults: hasFaults, ignoreKeys } = options;
  const store = createLibsqlStore({ path: database });
  const client = createClientAddress(undefined);
  const settings = readSettings({ DATA_FOLDER: dirname(database), HOST: host });
  const writeTokens = tokens.map((token) => ({ token, projects: '*' as const }));
  const log = { info: () => {}, error: (line: string) => console.error(line) };
  const parts = { log, store, files: DIST, clientAddress: client.of };
  const mounted = await mount(
    { ...settings, store: { ...settings.store, writeTokens }, rateLimit: false, ceiling: false },
    parts,
  );
  const held = createHeldRequests();
  const deleteRows = createDeleteRows(database);

  const app = new Hono<ServiceEnv>();
  app.use('/_/*', async (c, next) => {
    await next();
    c.res.headers.set('cache-control', 'no-store');
  });
  app.use(
    methodNotAllowed({
      app,
      onMethodNotAllowed: (c) => c.json({ code: 405, message: 'Method not allowed' }, 405),
    }),
  );
  if (hasFaults) {
    const { middleware, routes } = createFaults({ tokens, held, deleteRows });
    app.use('/v1/*', middleware);
    app.route('/_', routes);
  }
  const waiting = createHeldRequests();
  app.route('/_', readingRoutes(store, deleteRows, waiting));
  app.all('*', async (c) => {
    const given = c.get('forwarded') ?? c.req.raw;
    const request = ignoreKeys ? await withoutKey(given) : given;
    client.note(request, c.env.incoming?.socket.remoteAddress);
    return mounted.answer(request);
  });
  const endHeld = () => [held, waiting].forEach(({ cutAll }) => cutAll());
  return { app, mounted, endHeld };
};

/** Starts the service in this process. Rejects when the port is taken. */
export const startService = async (options: StartOptions): Promise<RunningService> => {
  const { port, nextFree, host = '127.0.0.1' } = options;
  const { app, mounted, endHeld } = await createService(options);
  // The process may be a test or another server: its global Request and Response stay as they are.
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const answer: RequestListener = (request, response) => void listener(request, response);
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, answer);
  const closeServer = createGracefulClose(server);
  try {
    await listen(server, { port, nextFree, host });
  } catch (error) {
    await mounted.close();
    throw error;
  }

  const close = async () => {
    endHeld();
    await Promise.all([mounted.stop(), closeServer()]);
    await mounted.close();
  };
  let closing: Promise<void> | undefined;
  const bound = (server.address() as AddressInfo).port;
  const url = ownUrl(host, bound);
  mounted.start(url.replace('127.0.0.1', 'localhost'));
  const rows = `${url}/rows${mounted.readToken ? `?token=${mounted.readToken}` : ''}`;
  return {
    ...{ url, port: bound, tag: mounted.tag(), rows, listener: answer },
    close: () => (closing ??= close()),
  };
};
