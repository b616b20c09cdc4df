import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createConsumer,
  createDelivery,
  createRelay,
  type Names,
  type OnMetric,
  type Refusal,
  type Send,
} from '../relay.js';
import { createMetrics } from '../relay-node.js';
import { createService } from '../service.js';
import { createClientAddress } from './client-address.js';
import { isLocalName } from './is-local-name.js';
import { listen, type Door } from './listen.js';
import { announcementOf } from './service-announcement.js';
import type { Log } from './log.js';
import { madeToken } from './made-tokens.js';
import { tagFor } from './paste.js';
import { createRowsPage } from './rows-page.js';
import { openServiceStore } from './service-store.js';
import type { ServiceSettings } from './service-settings.js';
import { createSnippetFiles } from './snippet-files.js';
import { openStore } from './store.js';
import { createTrafficLog } from './traffic-log.js';
import { createTroubleLog } from './trouble-log.js';
import { untilStopped, within } from './until-stopped.js';

const LOG_EVERY_MS = 60_000;
const STOP_MS = 20_000;
/** How long a browser on another machine may use a file of the snippet without asking. */
const MAX_AGE_S = 3_600;
/** Tried in turn where no port is asked for. */
const PORT = 8_787;
const RELAY_PATH = '/a';

const isLocalOrigin = (origin: string): boolean =>
  URL.canParse(origin) && isLocalName(new URL(origin).hostname);

/** What a refusal of the relay means to a person, with the fix where it is a setting. */
const wordsOf = ({ request, status, message }: Refusal): string => {
  const origin = request.headers.get('origin');
  if (status !== 403 || message !== 'Not allowed') return message;
  return origin === 'null' || origin === null
    ? 'the page has no origin, as a file opened from disk has none: serve it, for example by `npx serve`'
    : `pages of ${origin} may not send: name it in \`SITE_ORIGIN\``;
};

/** Runs the whole service until the program is told to stop: relay, store, rows and the snippet's files. */
export const serveService = async (
  settings: ServiceSettings,
  { log, announce }: { log: Log; announce: (text: string) => void },
): Promise<void> => {
  const { folder, host, origins, addressHeader, projects, channels } = settings;
  const { rateLimit, ceiling } = settings;
  const isLocal = isLocalName(host);
  const writeTokens = settings.writeTokens ?? [
    { token: madeToken(folder, 'write-token'), projects: '*' as const },
  ];
  const made = madeToken(folder, 'read-token');
  const readToken = settings.readToken ?? (isLocal ? undefined : made);
  const databaseUrl = settings.databaseUrl ?? `file:${join(folder, 'rows.db')}`;
  const store = await openServiceStore(databaseUrl);
  const queued = settings.queueUrl ? await openStore(settings.queueUrl) : undefined;

  const traffic = createTrafficLog();
  const metrics = createMetrics({ prefix: 'analytics_service' });
  const both =
    (first: OnMetric): OnMetric =>
    (...args) => {
      first(...args);
      metrics.onMetric(...args);
    };
  const hooks = createTroubleLog(log, (message) => message);
  const client = createClientAddress(addressHeader);
  const clientAddress = client.of;
  const origin = origins ?? isLocalOrigin;

  const place = {
    url: '',
    project: firstOf(projects, 'my-site'),
    channel: firstOf(channels, 'web'),
  };
  const service = createService({
    ...{ store, writeTokens, readToken, projects, channels, rateLimit, ceiling, clientAddress },
    tag: () => tagFor({ ...place, isLocal }),
    page: createRowsPage(new URL('./rows/', import.meta.url)),
    retentionDays: settings.retentionDays,
    onMetric: metrics.onMetric,
    ...hooks,
  });

  const send: Send = (records, { request }) => service.take(records, request);
  const consumer =
    queued &&
    createConsumer({
      queue: queued.queue,
      delivery: createDelivery({ send, seen: queued.seen, ...hooks, onMetric: metrics.onMetric }),
      onMetric: both(traffic.onConsumerMetric),
      ...hooks,
    });
  const relay = createRelay({
    ...{ send, origins: origin, projects, channels, clientAddress, rateLimit, ceiling, ...hooks },
    ...(queued && { queue: queued.queue, seen: queued.seen, consumer }),
    onRefused: (refusal) => service.refuse({ ...refusal, message: wordsOf(refusal) }),
    onMetric: both(traffic.onRelayMetric),
  });

  const files = createSnippetFiles(new URL('./', import.meta.url), isLocal ? 0 : MAX_AGE_S);
  const answer = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith(`${RELAY_PATH}/`)) return relay(request);
    if (pathname === '/') return new Response(null, { status: 302, headers: { location: 'rows' } });
    const file = await files(request);
    if (file) service.note('file');
    return file ?? service(request);
  };

  const doors: Door[] = [
    await listen({
      ...{ name: 'PORT', host, port: settings.port ?? PORT, nextFree: settings.port === undefined },
      answer: (request, address) => {
        client.note(request, address);
        return answer(request);
      },
    }),
  ];
  if (settings.adminPort !== undefined) {
    const answerAdmin = (request: Request) =>
      new URL(request.url).pathname === '/metrics'
        ? metrics.handler(request)
        : new Response(null, { status: 404 });
    doors.push(
      await listen({ name: 'ADMIN_PORT', host, port: settings.adminPort, answer: answerAdmin }),
    );
  }
  const stopped = untilStopped();
  consumer?.start();

  const { port } = doors[0]!;
  const url = `http://${isLocal ? 'localhost' : host}:${port}`;
  if (isLocal) place.url = url;
  writeFileSync(join(folder, 'address'), `${url}\n`);
  announce(
    announcementOf({
      url,
      tag: tagFor({ ...place, isLocal }),
      settings,
      isLocal,
      databaseUrl,
      asksForToken: readToken !== undefined,
    }),
  );
  const logging = setInterval(() => log.info(traffic.line()), LOG_EVERY_MS);

  await stopped;
  clearInterval(logging);
  const all = Promise.all([...doors.map(({ end }) => end()), consumer?.stop()]);
  const isLate = await within(STOP_MS, all);
  await service.close();
  await queued?.close();
  log.info(`${isLate ? 'stopped before all was done' : 'stopped'}. ${traffic.line()}`);
};

const firstOf = (names: Names, usual: string): string => (names === '*' ? usual : names[0]!);
