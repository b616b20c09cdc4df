import { join, resolve } from 'node:path';
import {
  createConsumer,
  createService,
  type Incoming,
  type Names,
  type OnMetric,
  type Store,
} from '../service.js';
import { isLocalName, isLocalOrigin } from '../interface/is-local-name.js';
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
  const metrics = await createProgramMetrics(settings.adminPort);
  const onMetric: OnMetric = (...args) => {
    traffic.onMetric(...args);
    metrics.onMetric(...args);
  };
  const hooks = createTroubleLog(log, (message) => message);
  let url = '';
  const tag = () =>
    tagFor({ url, project: firstOf(projects, 'my-site'), channel: firstOf(channels, 'web') });

  /** The consumer is made first, since the service answers for it, and writes into the service. */
  const write = (records: readonly Incoming[]) => service.write(records);
  const consumer =
    queued &&
    createConsumer({
      ...{ queue: queued.queue, store: { write }, ...hooks },
      onMetric,
    });
  const service = createService({
    ...{ store, writeTokens, readToken, projects, channels, rateLimit, ceiling, clientAddress },
    ...{ tag, page: createRowsPage(new URL('rows/', folderOfFiles)), ...hooks },
    ...(queued && { queue: queued.queue, consumer }),
    relayPath: RELAY_PATH,
    tokenFile: settings.writeTokens ? undefined : resolve(folder, 'write-token'),
    origins: origins ?? isLocalOrigin,
    retentionDays: settings.retentionDays,
    onMetric,
  });
  const files = createSnippetFiles(folderOfFiles, isLocal ? 0 : MAX_AGE_S);

  return {
    /** Answers whatever a page, a relay or a reader asks. */
    answer: async (request: Request): Promise<Response> => {
      const { pathname } = new URL(request.url);
      if (pathname === '/')
        return new Response(null, { status: 302, headers: { location: 'rows' } });
      const file = await files(request);
      if (file) service.note('file');
      return file ?? service(request);
    },
    /** Answers what asks for numbers. */
    answerAdmin: createAdmin({ health: service.health, consumer, metrics: metrics.handler }),
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
