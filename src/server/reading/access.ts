import type { Context, MiddlewareHandler } from 'hono';
import { isLocalName } from '../../util/is-local-name.js';
import { refuse } from '../http/answers.js';
import type { ReadToken, ServiceOptions } from '../service-options.js';
import { bearerOf, hashOf, hexOf, isSame } from '../tokens.js';
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

/** What a token of one project may ask for. All else that reads is refused to it, also what comes to be added. */
const OF_PROJECT = ['/rows', '/refused', '/profiles', '/counts', '/users', '/health'];
const READS_ALONE =
  'This token reads the rows, profiles, counts, refused records and health of one project, and nothing else. Use the read token of the service.';

/** The only project that the token of a request may read; undefined if it may read all. */
export const onlyProjectOf = (c: Context): string | undefined =>
  c.get('project') as string | undefined;

/** The query of a request, with the only project that its token may read. What reads has to take its filters from here. */
export const queryOf = (c: Context): URLSearchParams => {
  const query = new URL(c.req.url).searchParams;
  const project = onlyProjectOf(c);
  if (project !== undefined) query.set('project', project);
  return query;
};

/** The cookie's value in place of the token. It is the same in every process, and opens nothing else. */
const cookieOf = async (token: string): Promise<string> => hexOf(await hashOf(`rows ${token}`));

/**
 * Each token has a cookie of its own, since browsers share cookies between services on other ports of the same host.
 */
const cookieName = (value: string): string => `analytics_outbox_read_${value.slice(0, 8)}`;

const cookieIn = ({ headers }: Request, name: string): string | undefined =>
  new RegExp(`(?:^|; *)${name}=([^;]*)`).exec(headers.get('cookie') ?? '')?.[1];

/** A token as it is compared, and the only project that it may read. */
interface Key {
  hash: Uint8Array;
  cookie: string;
  project: string | undefined;
}
const keyOf = async ({ token, project }: Partial<ReadToken> & { token: string }): Promise<Key> => ({
  ...{ hash: await hashOf(token), cookie: await cookieOf(token), project },
});

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

interface Access extends Pick<ServiceOptions, 'readToken' | 'readTokens'> {
  /** A browser gets the page even without a token; the page then says why it shows no rows. */
  hasPage: boolean;
  /** Without a token somebody at this machine may read. */
  isForThisMachine: boolean;
}

/** Refuses requests that may not read. */
export const readingAccess = ({
  readToken,
  readTokens = [],
  hasPage,
  isForThisMachine,
}: Access): MiddlewareHandler => {
  const encoder = new TextEncoder();
  const tokens = [...(readToken === undefined ? [] : [{ token: readToken }]), ...readTokens];
  const known = tokens.length ? Promise.all(tokens.map(keyOf)) : undefined;

  const keyOfToken = async (token: string): Promise<Key | undefined> => {
    const given = await hashOf(token);
    return (await known)!.find(({ hash }) => isSame(hash, given));
  };
  const hasCookie = (request: Request, { cookie }: Key): boolean => {
    const given = cookieIn(request, cookieName(cookie)) ?? '';
    return isSame(encoder.encode(cookie), encoder.encode(given));
  };
  const keyIn = async (request: Request): Promise<Key | undefined> => {
    const token = bearerOf(request);
    if (token !== undefined) return keyOfToken(token);
    return (await known)!.find((key) => hasCookie(request, key));
  };

  /** Moves the token from the address, where others could see it, into a cookie. */
  const takeToken = async (request: Request, token: string): Promise<Response> => {
    const key = await keyOfToken(token);
    if (!key && !(hasPage && isPage(request))) return refuse(401, { message: NO_TOKEN });
    const url = new URL(request.url);
    url.searchParams.delete('token');
    const headers = new Headers({
      // Relative to the address in the browser, which may have a path in front.
      location: `rows${url.search}`,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    });
    if (key) {
      const secure = isSecure(request) ? '; Secure' : '';
      // Without `Path` the cookie is for the path of the page as the browser sees it.
      const setCookie = ({ cookie }: Key, value: string, age: number) =>
        headers.append(
          'set-cookie',
          `${cookieName(cookie)}=${value}; HttpOnly; SameSite=Strict; Max-Age=${age}${secure}`,
        );
      setCookie(key, key.cookie, COOKIE_AGE_S);
      // The token that was given last counts.
      for (const other of await known!)
        if (other !== key && hasCookie(request, other)) setCookie(other, '', 0);
    }
    return new Response(null, { status: 303, headers });
  };

  /** Lets a token of one project read that project. */
  const enterProject = (c: Context, project: string): Response | undefined => {
    const { pathname, searchParams } = new URL(c.req.url);
    if (!READS.has(c.req.method) || !OF_PROJECT.includes(pathname))
      return refuse(403, { message: READS_ALONE });
    if (searchParams.getAll('project').some((asked) => asked && asked !== project))
      return refuse(403, {
        message: `This token reads the project ${JSON.stringify(project)} alone.`,
      });
    c.set('project', project);
    return undefined;
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
    if (known) {
      const key = await keyIn(request);
      if (!key) return refuse(401, { message: NO_TOKEN });
      return (key.project === undefined ? undefined : enterProject(c, key.project)) ?? next();
    }
    return isForThisMachine && isLocal(request) ? next() : refuse(403, { message: NOT_LOCAL });
  };
};
