import type { MiddlewareHandler } from 'hono';
import { isLocalName } from '../../interface/is-local-name.js';
import { refuse } from '../http/answers.js';
import { bearerOf, hashOf, isSame } from '../tokens.js';
import { formatOf } from './format-of.js';

const COOKIE_AGE_S = 30 * 86_400;

/** Headers that proxies add. A request that has one may come from anywhere, even under a local name. */
const OF_PROXIES = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'];

/** Whether the request seems to come from this machine. */
const isLocal = ({ url, headers }: Request): boolean =>
  isLocalName(new URL(url).hostname) && !OF_PROXIES.some((name) => headers.has(name));

const NO_TOKEN =
  'This asks for the read token of the service: send `Authorization: Bearer <token>`, or open /rows?token=<token> once in a browser.';
const NOT_LOCAL =
  'Without a read token this is open to this machine only, under a local name such as localhost, behind no proxy and for no other origins. Set a read token to reach it from elsewhere.';

const hexOf = (bytes: Uint8Array): string =>
  [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** The cookie's value in place of the token. It is the same in every process, and opens nothing else. */
const cookieOf = async (token: string): Promise<string> => hexOf(await hashOf(`rows ${token}`));

/**
 * Each token has a cookie of its own, since browsers share cookies between services on other ports of the same host.
 */
const cookieName = (value: string): string => `analytics_outbox_read_${value.slice(0, 8)}`;

const cookieIn = ({ headers }: Request, name: string): string | undefined =>
  new RegExp(`(?:^|; *)${name}=([^;]*)`).exec(headers.get('cookie') ?? '')?.[1];

/** Whether the browser uses TLS. A proxy that ends TLS sends a header; a false one affects only its sender's cookie. */
const isSecure = ({ url, headers }: Request): boolean =>
  url.startsWith('https:') || /^https\b/i.test(headers.get('x-forwarded-proto') ?? '');

/** Whether an origin is the service's own. A proxy that rewrites the `Host` header passes the original name on. */
const isOwn = (origin: string, { url, headers }: Request): boolean => {
  const host = URL.canParse(origin) && new URL(origin).host;
  return host === new URL(url).host || host === headers.get('x-forwarded-host');
};

/**
 * Whether a page of another site may have sent the request. Such a page must neither read nor change anything, but its
 * links may open the page of the rows. `Sec-Fetch-Site` says it, but old browsers do not send that header, and no
 * browser does without TLS. All browsers send the origin with a request that changes something.
 */
const isForeign = (request: Request): boolean => {
  const { method, headers } = request;
  const [site, origin] = [headers.get('sec-fetch-site'), headers.get('origin')];
  if (site === null) return !READS.has(method) && origin !== null && !isOwn(origin, request);
  if (site === 'same-origin' || site === 'none') return false;
  return method !== 'GET' || headers.get('sec-fetch-mode') !== 'navigate';
};

/**
 * Whether the request is for the page itself or one of its files. Anybody may have them: they hold no rows, and the page
 * asks a person for the token.
 */
const isPage = (request: Request): boolean => {
  const { pathname } = new URL(request.url);
  if (!READS.has(request.method)) return false;
  return pathname.startsWith('/rows/') || (pathname === '/rows' && formatOf(request) === 'html');
};
const READS = new Set(['GET', 'HEAD']);

interface Place {
  /** A browser gets the page even without a token; the page then says why it shows no rows. */
  hasPage: boolean;
  /** Without a token somebody at this machine may read. */
  isForThisMachine: boolean;
}

/** Refuses requests that may not read. */
export const readingAccess = (
  readToken: string | undefined,
  { hasPage, isForThisMachine }: Place,
): MiddlewareHandler => {
  const encoder = new TextEncoder();
  const known =
    readToken === undefined ? undefined : Promise.all([hashOf(readToken), cookieOf(readToken)]);

  const mayRead = async (request: Request): Promise<boolean> => {
    const [hash, cookie] = (await known)!;
    const token = bearerOf(request);
    if (token !== undefined) return isSame(hash, await hashOf(token));
    return isSame(
      encoder.encode(cookie),
      encoder.encode(cookieIn(request, cookieName(cookie)) ?? ''),
    );
  };

  /** Moves the token from the address, where others could see it, into a cookie. */
  const takeToken = async (request: Request, token: string): Promise<Response> => {
    const [hash, cookie] = (await known)!;
    const isRight = isSame(hash, await hashOf(token));
    if (!isRight && !(hasPage && isPage(request))) return unauthorized();
    const url = new URL(request.url);
    url.searchParams.delete('token');
    const headers = new Headers({
      // Relative to the address in the browser, which may have a path in front.
      location: `rows${url.search}`,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    });
    if (isRight) {
      const secure = isSecure(request) ? '; Secure' : '';
      // Without `Path` the cookie is for the path of the page as the browser sees it.
      headers.set(
        'set-cookie',
        `${cookieName(cookie)}=${cookie}; HttpOnly; SameSite=Strict; Max-Age=${COOKIE_AGE_S}${secure}`,
      );
    }
    return new Response(null, { status: 303, headers });
  };

  return async (c, next) => {
    const request = c.req.raw;
    const url = new URL(request.url);
    if (isForeign(request)) return refuse(403, { message: 'Another site may not do this.' });
    const token = url.searchParams.get('token');
    if (known && token !== null && url.pathname === '/rows' && request.method === 'GET') {
      return takeToken(request, token);
    }
    if (hasPage && isPage(request)) return next();
    if (known) return (await mayRead(request)) ? next() : unauthorized();
    return isForThisMachine && isLocal(request) ? next() : refuse(403, { message: NOT_LOCAL });
  };
};

const unauthorized = (): Response => {
  const response = refuse(401, { message: NO_TOKEN });
  response.headers.set('www-authenticate', 'Bearer');
  return response;
};
