import { join, resolve } from 'node:path';
import {
  createConsumer,
  createDelivery,
  createRelay,
  type Names,
  type OnMetric,
  type Refusal,
  type RelayHealth,
} from '../relay.js';
import { isLocalName, isLocalOrigin } from '../interface/is-local-name.js';
import { createService, type Store } from '../service.js';
import { createAdmin } from './admin.js';
import type { Log } from './log.js';
import { madeToken } from './made-tokens.js';
import { tagFor } from './paste.js';
import { createProgramMetrics } from './program-metrics.js';
import { createRowsPage } from './rows-page.js';
import { openServiceStore } from './service-store.js';
import type { ServiceSettings } from './service-settings.js';
import { createSnippetFiles } from './snippet-files.js';
import { openStore } from './store.js';
import { createTrafficLog } from './traffic-log.js';
import { createTroubleLog } from './trouble-log.js';

const RELAY_PATH = '/a';
/** How long a browser on another machine may use a file of the snippet without asking. */
const MAX_AGE_S = 3_600;

/**
 * Whether nobody but this machine is meant to reach the program. A proxy on this machine makes all others look like it,
 * so each setting counts that says that there is one: who may send, and whom to believe.
 */
const isForThisMachine = ({ host, origins, trustedProxies, addressHeader }: ServiceSettings) =>
  isLocalName(host) &&
  (origins ?? []).every(isLocalOrigin) &&
  trustedProxies === undefined &&
  addressHeader === undefined;

const firstOf = (names: Names, usual: string): string => (names === '*' ? usual : names[0]!);

/** What a refusal of the relay means to a person, with the fix where it is a setting. */
const wordsOf = ({ request, status, message }: Refusal): string => {
  const origin = request.headers.get('origin');
  if (status !== 403 || message !== 'Not allowed') return message;
  return origin === 'null' || origin === null
    ? 'the page has no origin, as a file opened from disk has none: serve it, for example by `npx serve`'
    : `pages of ${origin} may not send: name it in SITE_ORIGIN`;
};

interface Parts {
  log: Log;
  /** Where the snippet's files and the page of the rows are. */
  files: URL;
  clientAddress: (request: Request) => string | undefined;
  /** In place of the one that `databaseUrl` names. */
  store?: Store | undefined;
}

/** Puts the parts together: store, service, relay, queue if any, and the snippet's files. */
export const mountService = async (
  settings: ServiceSettings,
  { log, files: folderOfFiles, clientAddress, store: given }: Parts,
) => {
  const { folder, origins, projects, channels, rateLimit, ceiling } = settings;
  const isLocal = isForThisMachine(settings);
  const writeTokens = settings.writeTokens ?? [
    { token: madeToken(folder, 'write-token'), projects: '*' as const },
  ];
  const made = madeToken(folder, 'read-token');
  const readToken = settings.readToken ?? (isLocal ? undefined : made);
  const databaseUrl = settings.databaseUrl ?? `file:${join(folder, 'rows.db')}`;
  const store = given ?? (await openServiceStore(databaseUrl));
  const queued = settings.queueUrl ? await openStore(settings.queueUrl) : undefined;

  const traffic = createTrafficLog();
  const { ofRelay, ofService, handler } = await createProgramMetrics(settings.adminPort);
  const both =
    (count: OnMetric): OnMetric =>
    (...args) => {
      count(...args);
      ofRelay(...args);
    };
  const hooks = createTroubleLog(log, (message) => message);
  let url = '';
  const tag = () =>
    tagFor({ url, project: firstOf(projects, 'my-site'), channel: firstOf(channels, 'web') });

  const service = createService({
    ...{ store, writeTokens, readToken, projects, channels, rateLimit, ceiling, clientAddress },
    tokenFile: settings.writeTokens ? undefined : resolve(folder, 'write-token'),
    ...{ tag, page: createRowsPage(new URL('rows/', folderOfFiles)) },
    retentionDays: settings.retentionDays,
    onMetric: ofService,
    ...hooks,
  });
  const { send } = service;
  const consumer =
    queued &&
    createConsumer({
      queue: queued.queue,
      delivery: createDelivery({ send, seen: queued.seen, ...hooks, onMetric: ofRelay }),
      onMetric: both(traffic.onConsumerMetric),
      ...hooks,
    });
  const relay = createRelay({
    ...{ send, projects, channels, clientAddress, rateLimit, ceiling, ...hooks },
    origins: origins ?? isLocalOrigin,
    ...(queued && { queue: queued.queue, seen: queued.seen, consumer }),
    onRefused: (refusal) => service.refuse({ ...refusal, message: wordsOf(refusal) }),
    onMetric: both(traffic.onRelayMetric),
  });
  /** The relay alone knows the queue, if any, and not whether the service can store. */
  const health = async (): Promise<RelayHealth> => {
    const known = relay.health();
    if (known.problem) return known;
    const ready = await service(new Request('http://localhost/ready'));
    return { ...known, ...((await ready.json()) as Pick<RelayHealth, 'status' | 'problem'>) };
  };
  const askRelay = async (request: Request, pathname: string): Promise<Response> => {
    const response = await relay(request);
    // Without a queue the relay can take what the service can store.
    const isReady = response.status === 200 && pathname.endsWith('/ready');
    if (queued || !isReady || (await health()).status === 'ok') return response;
    return new Response('{"status":"failing"}', { status: 503, headers: response.headers });
  };
  const files = createSnippetFiles(folderOfFiles, isLocal ? 0 : MAX_AGE_S);

  return {
    /** Answers whatever a page, a relay or a reader asks. */
    answer: async (request: Request): Promise<Response> => {
      const { pathname } = new URL(request.url);
      if (pathname.startsWith(`${RELAY_PATH}/`)) return askRelay(request, pathname);
      if (pathname === '/')
        return new Response(null, { status: 302, headers: { location: 'rows' } });
      const file = await files(request);
      if (file) service.note('file');
      const response = file ?? (await service(request));
      if (request.method === 'POST' && pathname.startsWith('/v1/')) traffic.onDirect(response);
      return response;
    },
    /** Answers what asks for numbers. */
    answerAdmin: createAdmin({ relay, health, consumer, metrics: handler }),
    tag,
    databaseUrl,
    isLocal,
    readToken,
    traffic,
    /**
     * Begins to deliver what waits in the queue. The address is that of the program as local pages see it; empty where
     * pages see it as a part of their site.
     */
    start: (address: string): void => {
      url = address;
      consumer?.start();
    },
    /** Ends the waits before what is tried again. */
    tryNow: (): void => consumer?.tryNow(),
    /** Ends what would keep a server up, and finishes what is being delivered. */
    stop: async (): Promise<void> => {
      service.endFeeds();
      await consumer?.stop();
    },
    close: async (): Promise<void> => {
      await service.close();
      await queued?.close();
    },
  };
};
