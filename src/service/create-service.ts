import { Hono } from 'hono';
import { cors } from 'hono/cors';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { messageOf } from '../interface/errors.js';
import type { Send } from '../relay/delivery/upstream.js';
import { createAdmission, createHeldBodies } from '../relay/front/admission.js';
import { answerJson, refuse } from '../relay/front/http.js';
import { createClientOf } from '../relay/front/client.js';
import type { Names } from '../relay/front/records.js';
import type { OnRefused } from '../relay/front/refusals.js';
import { inTime } from '../interface/in-time.js';
import { createClientWord } from './client-word.js';
import { createTell } from './hooks.js';
import { createLargeProfiles } from './large-profiles.js';
import { createOperations } from './operations.js';
import { OPENAPI } from './openapi.js';
import { readingAccess } from './reading/access.js';
import { createFeed } from './reading/feed.js';
import { createReadingTrouble } from './reading/reading-trouble.js';
import { addReadingRoutes } from './reading/routes.js';
import { createRefusals } from './refusals.js';
import { createRefuseForRelay } from './refuse-for-relay.js';
import { startRetention } from './retention.js';
import { checkServiceOptions, type ServiceOptions } from './service-options.js';
import { createSetup, type SetupState, type Step } from './setup.js';
import { createTokens } from './tokens.js';
import { createWriteForRelay } from './write-for-relay.js';
import { createWriteRecords } from './write-records.js';

/** A service: give it a request, get the answer. It never rejects. */
export interface Service {
  (request: Request): Promise<Response>;
  /**
   * Stores what a relay of the same process hands over, all in one transaction: `createRelay({ send: service.send })`.
   * Rejects where the database does not work; then nothing of it is stored, and the relay sends it again.
   */
  send: Send;
  /** Keeps what such a relay refuses, so that people see it: `createRelay({ onRefused: service.refuse })`. */
  refuse: OnRefused;
  /** Notes that a step of setting up was seen: the snippet's file was fetched, say. */
  note(step: Step): void;
  setup(): SetupState;
  /**
   * Ends the answers to those who follow the rows, and refuses new ones. They never end by themselves, so a server that
   * waits for its open answers calls this first when it stops.
   */
  endFeeds(): void;
  /** Ends the feeds, keeps what waits, and closes the store. */
  close(): Promise<void>;
}

/** Paths below these are for who may read; no other site gets their answers. */
const READING = ['/rows', '/refused', '/profiles', '/counts', '/users', '/setup'];
const isReading = (path: string): boolean =>
  READING.some((one) => path === one || path.startsWith(`${one}/`));

/** As long as Chromium remembers a preflight. */
const PREFLIGHT_AGE_S = 7_200;
const READY_WITHIN_MS = 5_000;
/** Each check writes to the database, and anybody may ask: an answer holds for so long. */
const CHECK_MS = 1_000;
/** How long to wait for a database that does not work. */
const DOWN_MS = 5_000;

/**
 * Makes a service: it takes what pages and relays send, keeps it in a store, and shows it. Web standards only, so it
 * runs wherever its store does.
 *
 * @throws TypeError that names each wrong option and what to write.
 * @example
 * const service = createService({
 *   store: createLibsqlStore({ path: 'data/service.db' }),
 *   writeTokens: [{ token: 'tok', projects: ['shop'] }],
 *   readToken: 'secret',
 *   clientAddress: (request) => request.headers.get('x-real-ip') ?? undefined,
 * });
 * const response = await service(request);
 */
export const createService = (options: ServiceOptions): Service => {
  checkServiceOptions(options);
  const { store, readToken, retentionDays, now = Date.now } = options;
  const tell = createTell(options);
  const setup = createSetup(options.tag, now);
  const refusals = createRefusals({ store, setup, tell, now });
  const writeRecords = createWriteRecords({ store, setup, tell, now });
  const largeProfiles = createLargeProfiles(now, options.rateLimit !== false);
  const trouble = createReadingTrouble(tell, now);
  const feed = createFeed({ store, setup, tell, trouble });
  const clientWordOf = createClientWord(options);
  const rules = {
    projects: listOf(options.projects),
    channels: listOf(options.channels),
  };
  const operate = createOperations({
    ...{ refusals, setup, writeRecords, largeProfiles, rules, now, clientWordOf },
    admission: createAdmission({ ...admissionOptionsOf(options), now, tell }),
    hold: createHeldBodies(),
    clientKeyOf: createClientOf(options, tell),
    tokens: createTokens(options.writeTokens),
  });
  const endRetention =
    retentionDays === undefined
      ? () => {}
      : startRetention({ store, days: retentionDays, tell, now });

  const app = new Hono();
  const forPages = cors({
    origin: options.origins ? [...options.origins] : '*',
    allowMethods: ['POST', 'OPTIONS'],
    allowHeaders: ['authorization', 'content-type', 'idempotency-key', 'x-called-at'],
    exposeHeaders: ['Retry-After'],
    maxAge: PREFLIGHT_AGE_S,
  });
  const mayRead = readingAccess(readToken, { hasPage: options.page !== undefined });
  // Before all others, so that every answer has the headers, and no preflight is asked for a token. An unknown path has
  // them too, or a page could not see the 404 behind a refused preflight.
  app.use(async (c, next) => {
    if (isReading(c.req.path)) return mayRead(c, next);
    if (c.req.method === 'OPTIONS') setup.note('preflight');
    return forPages(c, next);
  });
  app.use(
    methodNotAllowed({
      app,
      onMethodNotAllowed: (_, methods) => {
        const response = refuse(405);
        response.headers.set('allow', [...methods, 'OPTIONS'].join(', '));
        return response;
      },
    }),
  );
  app.post('/v1/identify', (c) => operate(c.req.raw, 'identify'));
  app.post('/v1/event', (c) => operate(c.req.raw, 'event'));
  addReadingRoutes(app, {
    ...{ store, setup, feed, trouble, clientWordOf, page: options.page },
  });
  app.get('/openapi.json', () => answerJson(200, OPENAPI));
  app.get('/live', () => answerJson(200, { status: 'ok' }));
  app.get('/ready', async () => {
    const problem = writeRecords.problem() ?? (await notReady());
    return problem === undefined
      ? answerJson(200, { status: 'ok' })
      : answerJson(503, { status: 'failing', problem });
  });
  app.notFound(() => refuse(404));
  app.onError((error, c) => {
    // What reads asks the database and nobody else.
    const { method, path } = c.req;
    if (!isReading(path)) {
      tell.error({ kind: 'fault', message: messageOf(error) });
      return refuse(500);
    }
    trouble.failed(`${method} ${path}`, error);
    return refuse(503, { waitMs: DOWN_MS, message: 'The database did not answer' });
  });

  let checking: Promise<string | undefined> | undefined;
  let checked: { at: number; problem: string | undefined } | undefined;
  /** Why the database takes no records, if that is so. */
  const notReady = async (): Promise<string | undefined> => {
    if (checked && Math.abs(now() - checked.at) < CHECK_MS) return checked.problem;
    checking ??= inTime(store.check(), READY_WITHIN_MS).then(() => undefined, messageOf);
    const problem = await checking;
    checking = undefined;
    checked = { at: now(), problem };
    return problem;
  };

  const answer = async (request: Request): Promise<Response> => {
    const response = await app.fetch(request);
    tell.metric('requests', 1, { route: routeOf(request), status: String(response.status) });
    return response;
  };

  return Object.assign(answer, {
    send: createWriteForRelay({
      ...{ rules, refusals, setup, writeRecords, largeProfiles, clientWordOf, now },
    }),
    refuse: createRefuseForRelay({ refusals, clientWordOf }),
    note: setup.note,
    setup: setup.state,
    endFeeds: feed.end,
    close: async (): Promise<void> => {
      endRetention();
      feed.end();
      await refusals.settled();
      await store.close();
    },
  });
};

/** Undefined for any name. */
const listOf = (names: Names | undefined): readonly string[] | undefined =>
  names === '*' ? undefined : names && [...names];

const ROUTES = ['/v1/identify', '/v1/event', ...READING, '/openapi.json', '/live', '/ready'];
/** The path of a request as a label: one of few. */
const routeOf = ({ url }: Request): string => {
  const { pathname } = new URL(url);
  return ROUTES.find((route) => pathname === route || pathname.startsWith(`${route}/`)) ?? 'none';
};

type AdmissionOptions = Pick<ServiceOptions, 'clientAddress' | 'rateLimit' | 'ceiling'>;
const admissionOptionsOf = ({
  clientAddress,
  rateLimit,
  ceiling,
}: ServiceOptions): AdmissionOptions & { authorize: undefined; timeout: undefined } => ({
  ...{ clientAddress, rateLimit, ceiling },
  ...{ authorize: undefined, timeout: undefined },
});
