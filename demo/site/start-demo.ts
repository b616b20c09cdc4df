import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGracefulClose } from '../server/close-gracefully.js';
import { httpUrl } from '../server/http-url.js';
import { listen } from '../server/listen.js';
import { startService } from '../server/start-service.js';
import { createDemoRelay } from './demo-relay.js';
import { createPageHandler } from './page-handler.js';

export interface PortChoice {
  /** 0 takes any free port. */
  port: number;
  /** Takes the next free port when the port is taken. */
  nextFree: boolean;
}

export interface DemoOptions {
  page: PortChoice;
  service: PortChoice;
  /** Path of the service's database file. */
  database: string;
  /** The API token of the page. */
  token: string;
  /** @default '127.0.0.1' */
  host?: string | undefined;
}

export interface RunningDemo {
  /** Address of the page. */
  url: string;
  port: number;
  service: { url: string; port: number; tag: string };
  /** Answers what has arrived, then closes both ports and the database. */
  close: () => Promise<void>;
}

const isAnyAddress = (host: string): boolean => host === '0.0.0.0' || host === '::';

/** Starts the service, with its fault switch on, and the page that sends to it, on an origin each. */
export const startDemo = async (options: DemoOptions): Promise<RunningDemo> => {
  const { page, database, token, host = '127.0.0.1' } = options;
  const server = createServer();
  const closeServer = createGracefulClose(server);
  // The page first: its port may have been asked for, and be the service's usual one.
  await listen(server, { ...page, host });
  const service = await startService({
    ...options.service,
    host,
    database,
    tokens: [token],
    faults: true,
  }).catch(async (error: unknown) => {
    await closeServer();
    throw error;
  });
  const { port } = server.address() as AddressInfo;
  const servicePort = service.port;
  const relay = createDemoRelay({ port, host, servicePort, token });
  server.on('request', createPageHandler({ servicePort, token, database, relay }));

  const named = isAnyAddress(host) ? 'localhost' : host;
  return {
    url: httpUrl(named, port),
    port,
    service: { url: httpUrl(named, service.port), port: service.port, tag: service.tag },
    close: async () => {
      await Promise.all([closeServer(), service.close()]);
    },
  };
};
