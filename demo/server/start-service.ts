import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { createGracefulClose } from './close-gracefully';
import { createService, type ServiceOptions } from './create-service';
import { httpUrl } from './http-url';
import { listen } from './listen';

export interface StartOptions extends ServiceOptions {
  /** 0 takes any free port. */
  port: number;
  /**
   * Takes the next free port when the port is taken.
   * @default false
   */
  nextFree?: boolean | undefined;
}

export interface RunningService {
  url: string;
  port: number;
  /** The tag to paste into a page. */
  tag: string;
  /** Answers what has arrived, then closes the port and the database. */
  close: () => Promise<void>;
}

// Longer than a browser keeps an idle connection: one closed under a request makes the browser send
// that request again by itself.
const KEEP_ALIVE_MS = 310_000;

/** Starts the service in this process. Rejects when the port is taken. */
export async function startService(options: StartOptions): Promise<RunningService> {
  const { port, nextFree = false, host = '127.0.0.1' } = options;
  const service = await createService(options);
  // The process may be a test or another server: its global Request and Response stay as they are.
  const listener = getRequestListener(service.app.fetch, { overrideGlobalObjects: false });
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, listener);
  const closeServer = createGracefulClose(server);
  try {
    await listen(server, { port, nextFree, host });
  } catch (error) {
    await service.close();
    throw error;
  }

  const close = async () => {
    service.endHeld();
    await closeServer();
    await service.close();
  };
  let closing: Promise<void> | undefined;
  const bound = (server.address() as AddressInfo).port;
  const url = httpUrl(host, bound);
  service.start(url.replace('127.0.0.1', 'localhost'));
  return {
    url,
    port: bound,
    tag: service.tag(),
    close: () => (closing ??= close()),
  };
}
