import { isHttpUrl } from '../../interface/kinds.js';
import type { BatchResult } from '../../interface/wire.js';

export type Operation = 'batch' | 'identify' | 'event';
/** The operations of a relay, and what it says of itself. */
export type Route = Operation | 'live' | 'ready';

const ROUTE = /\/(?:v1\/(batch|identify|event)|(live|ready))$/;

/** By the end of the path, so that a relay can be mounted anywhere. None where the address is none, such as a wrong `Host`. */
export const routeOf = ({ url }: Request): Route | undefined => {
  if (!URL.canParse(url)) return undefined;
  const [, operation, probe] = ROUTE.exec(new URL(url).pathname) ?? [];
  return (operation ?? probe) as Route | undefined;
};

/** Origins of pages that may send: a list, or a function that decides. */
export type Origins = readonly string[] | ((origin: string) => boolean);

interface Rules {
  origins: Origins;
  allowMissingOrigin: boolean;
}

/** Schemes of apps and extensions have no host but what their maker or the browser gives: `app://-`. */
const APP_ORIGIN = /^(?!https?:)[a-z][a-z\d+.-]*:\/\/[a-z\d._-]+(:\d+)?$/;

/**
 * An origin as a browser names it: no path, no slash at the end, no default port. Also that of an app or extension:
 * `capacitor://localhost`, `chrome-extension://…`. `null` is none: all sandboxed frames and local files have it.
 */
export const isOrigin = (value: unknown): boolean =>
  typeof value === 'string' &&
  (APP_ORIGIN.test(value) || (isHttpUrl(value) && new URL(value).origin === value));

/** The modes of requests by scripts and beacons. A form, a link and a typed address have `navigate`. */
const MODES: readonly (string | null)[] = [null, 'cors', 'no-cors', 'same-origin'];

/** The request's origin, where it is in the list. */
export const listedOrigin = (request: Request, { origins }: Rules): string | undefined => {
  const origin = request.headers.get('origin');
  if (origin === null || origin === 'null') return undefined;
  // Where types are not looked at, the function may be async, and all promises are true.
  const isListed =
    typeof origins === 'function' ? origins(origin) === true : origins.includes(origin);
  return isListed ? origin : undefined;
};

/** Whether the origin is that of the relay itself. What ends TLS before it may have changed the scheme. */
const isOwn = (origin: string, { url }: Request): boolean =>
  URL.canParse(origin) && new URL(origin).host === new URL(url).host;

/**
 * Whether the request comes from a page that may send. Browsers name the origin of every POST, but for
 * one: a beacon of a page with `Referrer-Policy: no-referrer` says `null`, as does a sandboxed frame.
 * `Sec-Fetch-Site`, which no script can set, tells the two apart.
 * https://fetch.spec.whatwg.org/#append-a-request-origin-header
 */
export const isFromAllowedPage = (request: Request, rules: Rules): boolean => {
  const { headers } = request;
  if (!MODES.includes(headers.get('sec-fetch-mode'))) return false;
  const site = headers.get('sec-fetch-site');
  const listed = listedOrigin(request, rules);
  // Nothing that a browser sends to the page's own host is cross-site. Old browsers do not say.
  if (listed) return site !== 'cross-site' || !isOwn(listed, request);
  const origin = headers.get('origin');
  if (origin !== null && origin !== 'null') return false;
  if (site !== null) return site === 'same-origin';
  return origin === null && rules.allowMissingOrigin;
};

/** As long as Chromium remembers a preflight. */
const MAX_AGE_S = '7200';

/**
 * What a page of a listed origin may read. The headers are named one by one: `*` would not cover
 * `authorization` (https://fetch.spec.whatwg.org/#cors-non-wildcard-request-header-name), which a client
 * in direct form sends and the relay ignores.
 */
export const withCors = (response: Response, origin: string | undefined): Response => {
  response.headers.append('vary', 'Origin');
  if (origin) {
    response.headers.set('access-control-allow-origin', origin);
    response.headers.set('access-control-expose-headers', 'Retry-After');
  }
  return response;
};

/** The answer to a preflight of a listed origin. */
export const preflight = (methods: string): Response =>
  new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': methods,
      'access-control-allow-headers':
        'content-type, content-encoding, authorization, idempotency-key',
      'access-control-max-age': MAX_AGE_S,
    },
  });

/** Texts of the errors a relay or the service answers with. Nothing of a request ever goes into an answer. */
const MESSAGES = {
  400: 'Invalid request data',
  401: 'Missing or wrong API token',
  403: 'Not allowed',
  404: 'Not found',
  405: 'Method not allowed',
  408: 'Too slow',
  413: 'Too large',
  415: 'Wrong content type',
  422: 'Not stored',
  429: 'Too many records',
  500: 'Failed',
  502: 'Not passed on',
  503: 'Try again later',
} as const;

export type ErrorStatus = keyof typeof MESSAGES;

/** An answer in JSON. No cache may keep it, or one origin could get the answer of another. */
export const answerJson = (status: number, value: unknown): Response =>
  new Response(JSON.stringify(value), {
    status,
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
  });

interface Words {
  /** How long to wait, where that is known. */
  waitMs?: number;
  /** What is wrong, where the status alone does not say it. */
  message?: string | undefined;
}

/** An error in the interface's form (section 7). */
export const refuse = (status: ErrorStatus, { waitMs = 0, message }: Words = {}): Response => {
  const response = answerJson(status, { code: status, message: message ?? MESSAGES[status] });
  if (waitMs > 0) response.headers.set('retry-after', String(Math.ceil(waitMs / 1_000)));
  return response;
};

/** The result of one record, in the form of the service's answer. */
export const singleAnswer = (result: BatchResult): Response => {
  const { outcome, status, retry_after: wait = 1, unlisted, field, message } = result;
  if (outcome === 'retry') return refuse(503, { waitMs: wait * 1_000 });
  if (outcome === 'rejected' && status === 413) return refuse(413);
  if (outcome === 'rejected')
    return refuse(400, { message: field ? `Invalid request data: ${field}` : message });
  if (unlisted) return refuse(403, { message: `The relay does not list this ${unlisted}` });
  // The relay is set up wrongly, not the client. Given a 401, the client would ask for another token.
  if (outcome === 'blocked') return refuse(502);
  return answerJson(200, { success: true, message: 'Passed on' });
};
