import { Hono } from 'hono';
import { cors } from 'hono/cors';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { messageOf } from '../util/errors.js';
import { isLocalOrigin } from '../util/is-local-name.js';
import { createClientWord } from './client-word.js';
import { createServer, type ServerHealth } from './create-server.js';
import { createTokenDoor, pathOf } from './doors.js';
import { createHealth, type Health } from './health/health.js';
import { createOutages } from './health/outages.js';
import { createRefusedCounter } from './health/refused-counter.js';
import { createTell } from './hooks.js';
import { answerJson, refuse } from './http/answers.js';
import { createDailyWord } from './http/client.js';
import { PAGE_HEADERS, PREFLIGHT_AGE_S } from './http/origin.js';
import { startPassingOn } from './exports/pass-on.js';
import { OPENAPI } from './openapi.js';
import { readingAccess } from './reading/access.js';
import { createFeed } from './reading/feed.js';
import { WrongRequestError } from './reading/query.js';
import { createReadingTrouble } from './reading/reading-trouble.js';
import { addReadingRoutes } from './reading/routes.js';
import { createRefusals } from './refusals.js';
import { startRetention } from './retention.js';
import { startMeasuring } from './measure-readers.js';
import { checkServiceOptions, type ServiceOptions } from './service-options.js';
import { createSetup, type SetupState, type Step } from './setup.js';
import type { Ignored } from './ignoring.js';
import { createStoreSink } from './store-sink.js';
import { createTokens } from './tokens.js';

/** A service: give it a request, get the answer. It never rejects. */
export interface Service {
  (request: Request): Promise<Response>;
  /** Whether anything is wrong, as `GET /health` says it, and how the service is that rows are passed on to. */
  health(): Promise<ServerHealth & Health>;
  /** Notes that a step of the set-up was made, for example that a page has fetched the snippet's file. */
  note(step: Step): void;
  setup(): SetupState;
  /**
   * Ends the streams of rows to followers, and refuses new ones. They never end by themselves, so a server that waits
   * for open answers has to call this first when it stops.
   */
  endFeeds(): void;
  /** With `passOn`: ends all waits at once, also those that the other service has asked for. */
  tryNow(): void;
  /** With `passOn`: passes no more rows on, and settles when the requests under way are finished. */
  stop(): Promise<void>;
  /** Ends the feeds and passing on, stores waiting refusals, and closes the store. */
  close(): Promise<void>;
}

/** These paths, and those below them, need the right to read. Pages of other sites do not get their answers. */
const READING = [
  ...['/rows', '/refused', '/profiles', '/counts', '/users', '/exports', '/setup', '/health'],
  '/outages',
];
const isReading = (path: string): boolean =>
  READING.some((one) => path === one || path.startsWith(`${one}/`));

/** What somebody is told who waits for the first row, and sends what is ignored. */
const IGNORED: Readonly<Record<Ignored, string>> = {
  ignored_address:
    'Records came from an address of `ignoreAddresses` (the setting IGNORE_ADDRESSES), so they are not stored.',
  ignored_gpc:
    'Records came from a browser that sends Global Privacy Control, so they are not stored: `gpc` (the setting GPC) is "drop".',
};

const OPERATIONS = ['/v1/identify', '/v1/event', '/v1/batch'];
/** How long a reader should wait if the database does not work. */
const DOWN_MS = 5_000;

/**
 * Makes a service: it takes the records of pages and relays, keeps them in a store, and shows them. Web standards only,
 * so it runs wherever its store does.
 *
 * @throws TypeError that names each wrong option and what to write.
 * @example
 * const service = createService({
 *   store: createLibsqlStore({ path: 'data/service.db' }),
 *   writeTokens: [{ token: 'tok', projects: ['shop'] }],
 *   readToken: process.env.READ_TOKEN,
 *   clientAddress: (request) => request.headers.get('x-real-ip') ?? undefined,
 * });
 * const response = await service(request);
 */
export const createService = (options: ServiceOptions): Service => {
  checkServiceOptions(options);
  const {
    store,
    readToken,
    readTokens,
    retentionDays,
    relayPath,
    origins,
    passOn,
    processName = crypto.randomUUID().slice(0, 8),
    now = Date.now,
  } = options;
  const tell = createTell(options);
  const setup = createSetup({ ...options, now });
  const browserOf = createClientWord(options);
  const outages = createOutages({ store, note: options.outageNote, name: processName });
  const counts = createRefusedCounter({ store, projects: projectsIn(options), now });
  const refusals = createRefusals({ store, setup, browserOf, counts, tell, now });
  const storeSink = createStoreSink({
    ...{ store, setup, outages, tell, now },
    refused: (project) => counts.count('database', project),
  });
  const trouble = createReadingTrouble(tell, now);
  const healthWord = createHealth({
    store,
    sink: storeSink,
    refused: counts,
    outages,
    name: processName,
    now,
  });
  const feed = createFeed({ store, setup, tell, trouble, health: healthWord });
  const server = createServer({
    ...{ options, tell, now, browserOf, refused: refusals.refused },
    sink: storeSink,
    rules: { projects: options.projects ?? '*', channels: options.channels ?? '*', fillsIn: true },
    origins: origins ?? [],
    tokenDoor: createTokenDoor(createTokens(options.writeTokens ?? [])),
    senderOf: passOn && createDailyWord(store.progress.secretOf, now),
    accepted: () => setup.note('accepted'),
    ignored: (why) => setup.failed('stored', IGNORED[why]),
  });
  const passing = passOn && startPassingOn({ store, options: passOn, tell });
  const endMeasuring = startMeasuring({ store, tell, now });
  const endRetention =
    retentionDays === undefined
      ? () => {}
      : startRetention({ store, days: retentionDays, tell, now });

  const health = async (): Promise<ServerHealth & Health> => ({
    ...(await server.health(() => passing?.health())),
    ...((await healthWord.ask()) as Health),
  });

  const app = new Hono();
  // A page of any origin may send, if it has a token.
  const forPages = cors({
    origin: '*',
    allowMethods: ['POST', 'OPTIONS'],
    allowHeaders: PAGE_HEADERS,
    exposeHeaders: ['Retry-After'],
    maxAge: PREFLIGHT_AGE_S,
  });
  const mayRead = readingAccess({
    ...{ readToken, readTokens },
    hasPage: options.page !== undefined,
    // If pages of other origins may send, there is a proxy in front, and it may add no header by which to tell
    // strangers from this machine.
    isForThisMachine: !Array.isArray(origins) || origins.every(isLocalOrigin),
  });
  // Before all routes, so that every answer has the CORS headers and no preflight needs a token. Unknown paths have
  // them, too: otherwise a page would see a refused preflight in place of the 404.
  app.use(async (c, next) => {
    if (isReading(c.req.path)) return mayRead(c, next);
    const isPreflight = c.req.header('access-control-request-method') !== undefined;
    if (isPreflight && OPERATIONS.includes(c.req.path)) setup.note('preflight');
    return forPages(c, next);
  });
  app.use(
    methodNotAllowed({
      app,
      onMethodNotAllowed: (_, methods) =>
        refuse(405, { allow: [...methods, 'OPTIONS'].join(', ') }),
    }),
  );
  app.post('/v1/identify', (c) => server.answerToken(c.req.raw, 'identify'));
  app.post('/v1/event', (c) => server.answerToken(c.req.raw, 'event'));
  app.post('/v1/batch', (c) => server.answerToken(c.req.raw, 'batch'));
  addReadingRoutes(app, {
    ...{ store, setup, feed, trouble, browserOf, page: options.page, now },
    refusedHours: counts.read,
    health: (project) => (project === undefined ? health() : healthWord.ask(project)),
  });
  app.get('/openapi.json', () => answerJson(200, OPENAPI));
  app.get('/live', () => answerJson(200, { status: 'ok' }));
  app.get('/ready', server.ready);
  app.notFound(() => refuse(404));
  app.onError((error, c) => {
    if (error instanceof WrongRequestError) return refuse(400, { message: error.message });
    // Reading needs nothing but the database.
    const { method, path } = c.req;
    if (!isReading(path)) {
      tell.error({ kind: 'fault', message: messageOf(error) });
      return refuse(500);
    }
    trouble.failed(`${method} ${path}`, error);
    return refuse(503, { waitMs: DOWN_MS, message: 'The database did not answer' });
  });

  const answer = async (request: Request): Promise<Response> => {
    const path = pathOf(request);
    if (relayPath && path.startsWith(`${relayPath}/`)) return server.answerPage(request);
    const response = await app.fetch(request);
    tell.metric('requests', 1, { route: routeOf(path), status: String(response.status) });
    return response;
  };

  return Object.assign(answer, {
    health,
    note: setup.note,
    setup: setup.state,
    endFeeds: feed.end,
    tryNow: () => passing?.tryNow(),
    stop: async () => passing?.stop(),
    close: async (): Promise<void> => {
      endRetention();
      endMeasuring();
      feed.end();
      await passing?.stop();
      await refusals.settled();
      await counts.end();
      await outages.settled();
      await store.close();
    },
  });
};

/** The projects that the options name. */
const projectsIn = ({ projects, writeTokens = [], readTokens = [] }: ServiceOptions): string[] => [
  ...[projects, ...writeTokens.map((token) => token.projects)].flatMap((names = '*') =>
    names === '*' ? [] : names,
  ),
  ...readTokens.map(({ project }) => project),
];

const ROUTES = [...OPERATIONS, ...READING, '/openapi.json', '/live', '/ready'];
/** The path of a request as a label of a metric. There are few, whatever clients ask for. */
const routeOf = (path: string): string =>
  ROUTES.find((route) => path === route || path.startsWith(`${route}/`)) ?? 'none';
