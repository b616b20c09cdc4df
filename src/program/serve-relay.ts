import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createConsumer, createDelivery, createRelay, type Undelivered } from '../relay.js';
import { createNodeFetch } from '../relay-node.js';
import type { Settings } from './settings.js';
import { load, openStore } from './store.js';
import { createTrafficLog } from './traffic-log.js';

const LOG_EVERY_MS = 60_000;

/** How a program tells its operator what happens. */
export interface Log {
  info: (line: string) => void;
  error: (line: string) => void;
}

/** Runs a relay with a queue until the program is told to stop, and then until nothing is under way. */
export const serveRelay = async (settings: Settings, log: Log): Promise<void> => {
  const { baseUrl, token, origins, projects, channels, addressHeader } = settings;
  const { serve } = await load('@hono/node-server', () => import('@hono/node-server'));
  const { queue, seen, close } = await openStore(settings.storeUrl);
  const traffic = createTrafficLog();
  const onError = ({ kind, message }: { kind: string; message: string }) =>
    log.error(`${kind}: ${message}`);
  const toService = { baseUrl, token, seen, onError, fetch: createNodeFetch() };
  const addresses = new WeakMap<Request, string | undefined>();
  const relay = createRelay({
    ...toService,
    ...{ origins, projects, channels, queue },
    clientAddress: (request) =>
      addressHeader ? (request.headers.get(addressHeader) ?? undefined) : addresses.get(request),
    onMetric: traffic.onRelayMetric,
  });
  const consumer = createConsumer({
    ...{ queue, onError, delivery: createDelivery(toService) },
    onMetric: traffic.onConsumerMetric,
    onUndelivered: ({ record, reason, status }: Undelivered) =>
      log.error(`dead letter: ${record.type} ${record.id} ${reason} ${status}`),
  });
  const server = serve({
    port: settings.port,
    fetch: (request, { incoming }) => {
      addresses.set(request, incoming.socket.remoteAddress);
      return relay(request);
    },
  }) as Server;
  await once(server, 'listening'); // rejects where the port is taken
  const stopped = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
  consumer.start();
  log.info(`listens at http://localhost:${(server.address() as AddressInfo).port}`);
  const logging = setInterval(() => log.info(traffic.line()), LOG_EVERY_MS);

  await stopped;
  clearInterval(logging);
  // Requests under way are answered, and what is being delivered is delivered; the rest stays in the store.
  await Promise.all([endServer(server), consumer.stop()]);
  await close();
  log.info(`stopped. ${traffic.line()}`);
};

const endServer = async (server: Server): Promise<void> => {
  const ended = once(server, 'close');
  server.close();
  // A connection that a proxy keeps open becomes idle after its last answer.
  const sweeping = setInterval(() => server.closeIdleConnections(), 100);
  await ended;
  clearInterval(sweeping);
};
