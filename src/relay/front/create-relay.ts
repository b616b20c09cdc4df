import { messageOf } from '../../interface/errors.js';
import { inTime } from '../../interface/in-time.js';
import type { BatchResult } from '../../interface/wire.js';
import type { ServiceHealth } from '../delivery/backoff.js';
import { makeDelivery } from '../delivery/delivery.js';
import { createSeenMemory } from '../delivery/seen-memory.js';
import { createTell } from '../hooks.js';
import { createAcceptance } from './acceptance.js';
import { createAdmission, createHeldBodies } from './admission.js';
import { createClientOf, createOpaqueWord, truncateAddress } from './client.js';
import {
  answerJson,
  isFromAllowedPage,
  listedOrigin,
  type Operation,
  preflight,
  refuse,
  type Route,
  routeOf,
  singleAnswer,
  withCors,
} from './http.js';
import { readBody } from './read-body.js';
import {
  checkRecord,
  type ClaimedRecord,
  isId,
  type Names,
  parseBatch,
  parseJson,
  weighBody,
  weighBytes,
} from './records.js';
import { createRefusals } from './refusals.js';
import { checkRelayOptions, type RelayOptions } from './relay-options.js';

/** How long to wait when too many bodies are held. */
const BUSY_MS = 1_000;

/** How a relay stands. */
export interface RelayHealth {
  /** `failing` only if the relay cannot take records: a service that is away is no reason to restart the relay. */
  status: 'ok' | 'failing';
  /** Why records cannot be taken, where that is so. */
  problem?: string;
  service: ServiceHealth;
  /** Given where the consumer of the queue is in this process, and the queue can say how full it is. */
  queue?: { waiting: number; dead: number; oldest_s: number };
}

/** A relay: give it a request, get the answer. It never rejects. */
export interface Relay {
  (request: Request): Promise<Response>;
  /** How it stands with the relay, the service and the queue: for people who operate it, and for nobody else. */
  health(): RelayHealth;
}

/**
 * Makes a relay: the part on a site's own origin that holds the service's token and passes on what pages
 * send. It answers `POST …/v1/batch`, `POST …/v1/identify`, `POST …/v1/event`, `GET …/live` and `GET …/ready`, under
 * whatever path it is mounted. Web standards only.
 *
 * @throws TypeError that names each wrong option and what to write.
 * @example
 * const relay = createRelay({
 *   baseUrl: 'https://in.example.com', token: 'tok',
 *   origins: ['https://shop.example'], projects: ['shop'], channels: ['web'],
 *   clientAddress: (request) => request.headers.get('cf-connecting-ip') ?? undefined,
 * });
 * const response = await relay(request);
 */
export const createRelay = (options: RelayOptions): Relay => {
  checkRelayOptions(options);
  const { allowMissingOrigin = false, queue, consumer, onRefused, clientAddress } = options;
  const { maxBytes = 1_048_576, bodyTimeout = 10_000, deadline = 15_000, token } = options;
  const { now = Date.now, seen = createSeenMemory({ now }), forwardAddress } = options;
  // Copied: what is allowed must not change under way.
  const { origins } = options;
  const rules = {
    origins: typeof origins === 'function' ? origins : [...origins],
    projects: copyOf(options.projects),
    channels: copyOf(options.channels),
    allowMissingOrigin,
  };
  const tell = createTell(options);
  const clientOf = createClientOf(options, tell);
  const secretOfQueue = queue?.secret && (() => inTime(queue.secret!(), deadline));
  // The token, if it is known, is a secret that all processes of a relay share.
  const shared = typeof token === 'string' ? token : undefined;
  const wordOf = createOpaqueWord(options.secret ?? secretOfQueue ?? shared);
  const hold = createHeldBodies();
  const admission = createAdmission({ ...options, now, tell });
  const delivery = makeDelivery({ ...options, seen });
  const acceptance = queue && createAcceptance({ queue, seen, now, tell });
  const passOn = acceptance?.accept ?? delivery.deliver;
  const refusals = createRefusals({ onRefused, tell, now });

  /** Passes on the records that are allowed. Answers one result a record, in their order, or why none may go on now. */
  const take = async (
    request: Request,
    claimed: readonly ClaimedRecord[],
  ): Promise<BatchResult[] | Response> => {
    const checked = claimed.map((record) => checkRecord(record, rules));
    const good = checked.filter((one) => 'body' in one);
    const refusal = good.length > 0 && admission.admit(good.length);
    if (refusal) return refusal;
    // What goes on and may be stored holds no address.
    const client = await wordOf(clientOf(request)).catch((error: unknown) => {
      if (!acceptance) throw error;
      return refuse(503, { waitMs: acceptance.failed(error) });
    });
    if (client instanceof Response) return client;
    const address = forwardAddress ? truncateAddress(clientAddress?.(request) ?? '') : undefined;
    const passed = await passOn(good, { until: now() + deadline, client, address, request });
    let next = 0;
    return checked.map((one, index): BatchResult => {
      const result = 'body' in one ? passed[next++]! : one;
      if (result === one) refusals.record(request, claimed[index]!, { result, client });
      tell.metric('records', 1, { side: 'in', outcome: result.outcome });
      return result;
    });
  };

  const answerBatch = async (request: Request, text: string): Promise<Response> => {
    const claimed = parseBatch(text);
    if (!Array.isArray(claimed)) return refuse(claimed.status, { message: claimed.message });
    const results = await take(request, claimed);
    if (results instanceof Response) return results;
    // With a queue, only trouble of the queue has a wait. A record that another process is sending has none.
    const waitS = Math.max(0, ...results.map((result) => result.retry_after ?? 0));
    const isQueueDown = acceptance && waitS > 0;
    return isQueueDown ? refuse(503, { waitMs: waitS * 1_000 }) : answerJson(200, { results });
  };

  const answerSingle = async (
    request: Request,
    type: 'identify' | 'event',
    text: string,
  ): Promise<Response> => {
    // A client that gives no key does not mean to send the request again.
    const id = request.headers.get('idempotency-key') ?? crypto.randomUUID();
    if (!isId(id)) return refuse(400, { message: WRONG_KEY });
    const results = await take(request, [{ id, type, body: parseJson(text) }]);
    return results instanceof Response ? results : singleAnswer(results[0]!);
  };

  /** Refuses a request before any of its body is read. */
  const refusalOf = async (request: Request): Promise<Response | undefined> => {
    if (!isFromAllowedPage(request, rules)) return refuse(403);
    if (!isJsonOrBeacon(request)) return refuse(415);
    const refusal = (await admission.authorize(request)) ?? (await admission.limit(request, 0));
    if (refusal) return refusal;
    const waitMs = acceptance ? 0 : delivery.waitMs();
    return waitMs > 0 ? refuse(503, { waitMs }) : undefined;
  };

  const receive = async (request: Request, route: Operation): Promise<Response> => {
    const refusal = await refusalOf(request);
    if (refusal) return refusal;
    const { add, size, release } = hold(clientOf(request));
    try {
      const body = await readBody(request, { maxBytes, timeout: bodyTimeout, hold: add });
      if (typeof body === 'number') {
        await admission.charge(request, weighBytes(size()));
        return refuse(body, { waitMs: body === 429 || body === 503 ? BUSY_MS : 0 });
      }
      const { tokens, isTooMuch } = weighBody(body);
      const overdrawn = await admission.limit(request, tokens);
      if (overdrawn) return overdrawn;
      if (isTooMuch) return refuse(413);
      return await (route === 'batch'
        ? answerBatch(request, body)
        : answerSingle(request, route, body));
    } finally {
      release();
    }
  };

  const health = (): RelayHealth => {
    const known = consumer?.health();
    const problem = acceptance?.problem() ?? (known?.isReading === false ? UNREADABLE : undefined);
    const size = known?.queue;
    const oldestMs = Math.max(0, now() - (size?.oldest ?? now()));
    return {
      status: problem ? 'failing' : 'ok',
      ...(problem && { problem }),
      service: known?.service ?? delivery.health(),
      ...(size && {
        queue: { waiting: size.waiting, dead: size.dead, oldest_s: Math.round(oldestMs / 1_000) },
      }),
    };
  };

  const answer = async (request: Request, route: Route | undefined): Promise<Response> => {
    if (!route) return refuse(404);
    const isProbe = route === 'live' || route === 'ready';
    const { method } = request;
    const allow = isProbe ? 'GET, HEAD, OPTIONS' : 'POST, OPTIONS';
    if (method === 'OPTIONS') return listedOrigin(request, rules) ? preflight(allow) : refuse(403);
    if (!allow.split(', ').includes(method)) {
      const refusal = refuse(405);
      refusal.headers.set('allow', allow);
      return refusal;
    }
    if (!isProbe) return receive(request, route);
    const { status } = route === 'live' ? { status: 'ok' } : health();
    return answerJson(status === 'ok' ? 200 : 503, { status });
  };

  const relay = async (request: Request): Promise<Response> => {
    let route: Route | undefined;
    let response: Response;
    let origin: string | undefined;
    try {
      route = routeOf(request);
      origin = listedOrigin(request, rules);
      response = await answer(request, route);
      await refusals.answer(request, response);
    } catch (error) {
      tell.error({ kind: 'relay', message: messageOf(error) });
      response = refuse(500);
    }
    tell.metric('requests', 1, { route: route ?? 'none', status: String(response.status) });
    return withCors(response, origin);
  };
  return Object.assign(relay, { health });
};

const copyOf = (names: Names): Names => (names === '*' ? names : [...names]);
const UNREADABLE = 'the queue cannot be read';
const WRONG_KEY = 'Idempotency-Key must have 1 to 64 letters, digits, - and _';

/**
 * A beacon is sent as `text/plain`. As JSON it would need a preflight, for which a leaving page has no time.
 */
const isJsonOrBeacon = ({ headers }: Request): boolean =>
  /^(application\/json|text\/plain) *(; *charset="?utf-8"?)?$/i.test(
    headers.get('content-type') ?? '',
  );
