import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { getRequestListener } from '@hono/node-server';
import { createNodeFetch } from '../../src/relay-node.js';
import { createRelay } from '../../src/relay.js';
import { createGracefulClose, httpUrl, listen, ownUrl, type PortChoice } from '../server/listen.js';
import { startService, type RunningService } from '../server/start-service.js';
import { createPageHandler } from './page-handler.js';

/** The project that the demo page sends to. */
const PROJECT = 'demo';
/** What the relay lets through: events of any other channel stay in the page's outbox. */
const CHANNELS = ['web', 'growth', 'billing'];
/** Where the relay is mounted on the page's own origin. */
const RELAY_PATH = '/a';

export interface DemoOptions {
  page: PortChoice;
  service: PortChoice;
  /** Path of the service's database file. */
  database: string;
  /** The API token of the page. */
  token: string;
  /** @default '127.0.0.1' */
  host?: string | undefined;
  /** A folder whose files are served in place of those of the last build. */
  fresh?: URL | undefined;
}

export interface RunningDemo {
  /** Address of the page. */
  url: string;
  port: number;
  service: Pick<RunningService, 'url' | 'port' | 'tag' | 'rows'>;
  /** Answers what has arrived, then closes both ports and the database. */
  close: () => Promise<void>;
}

/** All names under which a browser may have opened the page. */
const originsOf = (host: string, port: number): string[] => {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const names = ['localhost', '127.0.0.1', '::1', host, ...addresses.map(({ address }) => address)];
  return [...new Set(names)]
    .map((name) => httpUrl(name, port))
    .flatMap((url) => (URL.canParse(url) ? new URL(url).origin : []));
};

/** Starts the service, with its fault switch on, and the page that sends to it, on an origin each. */
export const startDemo = async (options: DemoOptions): Promise<RunningDemo> => {
  const { page, database, token, host = '127.0.0.1', fresh } = options;
  const server = createServer();
  const closeServer = createGracefulClose(server);
  // The page first: its port may have been asked for, and be the service's usual one.
  await listen(server, { ...page, host });
  const service = await startService({
    ...{ ...options.service, host, database, tokens: [token], faults: true },
  }).catch(async (error: unknown) => {
    await closeServer();
    throw error;
  });
  const { port } = server.address() as AddressInfo;

  // As a website would run it: on its own origin, with the token that the page does not have.
  const relay = createRelay({
    ...{ baseUrl: httpUrl(host, service.port), token, fetch: createNodeFetch() },
    ...{ origins: originsOf(host, port), projects: [PROJECT], channels: CHANNELS },
    rateLimit: false, // the only visitor is who tries it
  });
  const relayListener = getRequestListener(relay, { overrideGlobalObjects: false });
  const handler = createPageHandler({
    ...{ servicePort: service.port, token, project: PROJECT, relayPath: RELAY_PATH },
    tag: service.tag,
    fresh,
    relay: (request, response) => void relayListener(request, response),
    service: service.listener,
  });
  server.on('request', handler);

  return {
    url: ownUrl(host, port),
    port,
    service,
    close: async () => {
      // The service first: what waits for its rows ends, and the page's server has then nothing to wait for.
      await Promise.all([service.close(), closeServer()]);
    },
  };
};
