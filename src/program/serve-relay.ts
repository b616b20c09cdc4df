import { createConsumer, createDelivery, createRelay, type Undelivered } from '../relay.js';
import { createMetrics, createNodeFetch, type OnMetric } from '../relay-node.js';
import { createClientAddress } from './client-address.js';
import { listen } from './listen.js';
import type { Log } from './log.js';
import type { Settings } from './settings.js';
import { openStore } from './store.js';
import { createTrafficLog } from './traffic-log.js';
import { createTroubleLog } from './trouble-log.js';
import { untilStopped, within } from './until-stopped.js';

const LOG_EVERY_MS = 60_000;
/** How long all may take when the program is told to stop. Then it ends whatever is under way. */
const STOP_MS = 20_000;

/** The settings that stand for options of a relay, in its messages. */
const SETTING_OF: Readonly<Record<string, string>> = {
  '`baseUrl`': 'SERVICE_URL',
  '`token`': 'SERVICE_TOKEN',
  '`projects`': 'PROJECTS',
  '`channels`': 'CHANNELS',
  '`rateLimit`': 'RATE_LIMIT',
};
const inSettings = (message: string): string =>
  message.replace(/`\w+`/g, (option) => SETTING_OF[option] ?? option);

/** Runs a relay with a queue until the program is told to stop, and then until nothing is under way. */
export const serveRelay = async (settings: Settings, log: Log): Promise<void> => {
  const { baseUrl, token, origins, projects, channels, addressHeader, host } = settings;
  const { rateLimit, ceiling } = settings;
  const { queue, seen, close } = await openStore(settings.storeUrl);
  const traffic = createTrafficLog();
  const metrics = createMetrics();
  const both =
    (first: OnMetric): OnMetric =>
    (...args) => {
      first(...args);
      metrics.onMetric(...args);
    };
  const hooks = createTroubleLog(log, inSettings);
  const toService = { baseUrl, token, seen, ...hooks, fetch: createNodeFetch() };
  const client = createClientAddress({ header: addressHeader, warn: log.error });
  const consumer = createConsumer({
    ...{ queue, ...hooks },
    delivery: createDelivery({ ...toService, onMetric: metrics.onMetric }),
    onMetric: both(traffic.onConsumerMetric),
    onUndelivered: ({ record, reason, status }: Undelivered) =>
      log.error(`dead letter: ${record.type} ${record.id} ${reason} ${status}`),
  });
  const relay = createRelay({
    ...toService,
    ...{ origins, projects, channels, queue, consumer, rateLimit, ceiling },
    clientAddress: client.of,
    onMetric: both(traffic.onRelayMetric),
  });
  const doors = [
    await listen({
      ...{ name: 'PORT', host, port: settings.port },
      answer: (request, address) => {
        client.note(request, address);
        return relay(request);
      },
    }),
  ];
  if (settings.adminPort !== undefined) {
    const answer = (request: Request) => {
      const { pathname } = new URL(request.url);
      if (pathname === '/metrics') return metrics.handler(request);
      return pathname === '/health' ? relay(request) : new Response(null, { status: 404 });
    };
    doors.push(await listen({ name: 'ADMIN_PORT', host, port: settings.adminPort, answer }));
  }
  const stopped = untilStopped();
  consumer.start();
  const [door, adminDoor] = doors;
  log.info(`listens at ${door!.url}`);
  if (adminDoor) log.info(`metrics and health at ${adminDoor.url}`);
  const logging = setInterval(() => log.info(traffic.line()), LOG_EVERY_MS);

  await stopped;
  clearInterval(logging);
  // Requests under way are answered, and what is being delivered is delivered; the rest stays in the store.
  const all = Promise.all([...doors.map(({ end }) => end()), consumer.stop()]);
  const isLate = await within(STOP_MS, all);
  await close();
  log.info(`${isLate ? 'stopped before all was done' : 'stopped'}. ${traffic.line()}`);
};
