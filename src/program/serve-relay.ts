import { messageOf } from '../interface/errors.js';
import {
  createConsumer,
  createDelivery,
  createRelay,
  type OnMetric,
  type Undelivered,
} from '../relay.js';
import { createNodeFetch } from '../relay-node.js';
import { createAdmin } from './admin.js';
import { createClientAddress } from './client-address.js';
import { listen } from './listen.js';
import type { Log } from './log.js';
import { createProgramMetrics } from './program-metrics.js';
import { createServiceClient } from './service-client.js';
import { readToken, type Settings } from './settings.js';
import { openStore } from './store.js';
import { createTrafficLog } from './traffic-log.js';
import { createTroubleLog } from './trouble-log.js';
import { onSignals, untilStopped, within } from './until-stopped.js';

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

/**
 * Runs a relay with a queue until the program is told to stop, and then until nothing is under way.
 * @param environment where a token that has changed is read from
 */
export const serveRelay = async (
  settings: Settings,
  log: Log,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<void> => {
  const { baseUrl, token, origins, projects, channels, addressHeader, trustedProxies } = settings;
  const { rateLimit, ceiling, timeout, maxAge, idempotencyKey, host, adminPort } = settings;
  const { queue, close } = await openStore(settings.storeUrl, settings);
  const traffic = createTrafficLog();
  const metrics = await createProgramMetrics(adminPort);
  const onMetric: OnMetric = (...args) => {
    traffic.onMetric(...args);
    metrics.onMetric(...args);
  };
  const hooks = createTroubleLog(log, inSettings);
  const ofService = createServiceClient({
    ...settings,
    ...{ fetch: createNodeFetch(), rate: settings.serviceRate },
  });
  const { fetch, concurrency } = ofService;
  const toService = { baseUrl, token, timeout, idempotencyKey, fetch, concurrency, ...hooks };
  const client = createClientAddress({
    ...{ header: addressHeader, trusted: trustedProxies, warn: log.error },
  });
  const consumer = createConsumer({
    ...{ queue, maxAge, ...hooks },
    delivery: createDelivery({ ...toService, onMetric: metrics.onMetric }),
    onMetric,
    onUndelivered: ({ record, reason, status }: Undelivered) =>
      log.error(`dead letter: ${record.type} ${record.id} ${reason} ${status}`),
  });
  const relay = createRelay({
    ...{
      ...hooks,
      secret: token,
      timeout,
      origins,
      projects,
      channels,
      queue,
      consumer,
      rateLimit,
      ceiling,
    },
    clientAddress: client.of,
    onMetric,
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
  if (adminPort !== undefined) {
    const answer = createAdmin({
      ...{ health: relay.health, consumer, metrics: metrics.handler },
    });
    doors.push(await listen({ name: 'ADMIN_PORT', host, port: adminPort, answer }));
  }
  const ignore = onSignals({
    SIGUSR2: () => {
      log.info('tries again now');
      consumer.tryNow();
    },
    SIGHUP: () => {
      try {
        ofService.setToken(readToken(environment));
        log.info('read the token again');
      } catch (error) {
        log.error(`goes on with the token that it has: ${messageOf(error)}`);
      }
    },
  });
  const stopped = untilStopped();
  consumer.start();
  const [door, adminDoor] = doors;
  log.info(`listens at ${door!.url}`);
  if (adminDoor) log.info(`metrics and health at ${adminDoor.url}`);
  const logging = setInterval(() => log.info(traffic.line()), LOG_EVERY_MS);

  await stopped;
  ignore();
  clearInterval(logging);
  // Requests under way are answered, and what is being delivered is delivered; the rest stays in the store.
  const all = Promise.all([...doors.map(({ end }) => end()), consumer.stop()]);
  const isLate = await within(STOP_MS, all);
  await close();
  log.info(`${isLate ? 'stopped before all was done' : 'stopped'}. ${traffic.line()}`);
};
