import { isHttpUrl } from '../../interface/kinds.js';

/** Origins of pages that may send: a list, or a function that decides. */
export type Origins = readonly string[] | ((origin: string) => boolean);

/** Origins of apps and extensions, whose host is chosen by their maker or the browser: `app://-`. */
const APP_ORIGIN = /^(?!https?:)[a-z][a-z\d+.-]*:\/\/[a-z\d._-]+(:\d+)?$/;

/** Whether a text is an origin of pages as browsers write it: no path, no slash at the end, no default port. */
const isPageOrigin = (text: string): boolean => isHttpUrl(text) && new URL(text).origin === text;

/** The subdomains of a domain, on any level: `https://*.shop.example`. */
const SUBDOMAINS = /^(https?:\/\/)\*\.(.+)$/;
/** A domain with a name of its own below the last dot, which is no part of an address in digits. */
const DOMAIN = /\.[a-z][a-z\d-]*$/;
/** Where registries of countries give out names on the second level, in the words that most of them use: `co.uk`. */
const OF_REGISTRY =
  /^(ac|co|com|edu|go|gob|gouv|gov|gv|ltd|me|mil|ne|net|nom|or|org|plc|sch)\.[a-z]{2}$/;

const areSubdomains = (text: string): boolean => {
  const [, scheme, host] = SUBDOMAINS.exec(text) ?? [];
  if (!host || !isPageOrigin(scheme + host)) return false;
  const { hostname } = new URL(scheme + host);
  return DOMAIN.test(hostname) && !OF_REGISTRY.test(hostname);
};

/** What may be listed, for messages. */
export const ORIGIN_WORDS =
  '"https://shop.example", or "https://*.shop.example" for all below a domain of your own; nothing else may have a "*"';

/**
 * Whether the value may be listed: an origin, or all subdomains of a domain that a registry has given to somebody.
 * Origins of apps and extensions count, too (`capacitor://localhost`, `chrome-extension://…`). `null` does not: all
 * sandboxed frames and local files have it.
 */
export const isOrigin = (value: unknown): boolean =>
  typeof value === 'string' &&
  (APP_ORIGIN.test(value) || isPageOrigin(value) || areSubdomains(value));

/** Whether an origin is the listed one, or one of the listed subdomains. */
const fits = (origin: string, listed: string): boolean => {
  const [scheme = '', domain] = listed.split('*');
  if (domain === undefined) return origin === listed;
  const isLonger = origin.length > scheme.length + domain.length;
  return isLonger && origin.startsWith(scheme) && origin.endsWith(domain) && isPageOrigin(origin);
};

/** The modes of requests by scripts and beacons. A form, a link and a typed address have `navigate`. */
const MODES: readonly (string | null)[] = [null, 'cors', 'no-cors', 'same-origin'];

/** The request's origin, if it is in the list. */
export const listedOrigin = (request: Request, origins: Origins): string | undefined => {
  const origin = request.headers.get('origin');
  if (origin === null || origin === 'null') return undefined;
  // In plain JavaScript the function may be async, and a promise is not `false`.
  const isListed =
    typeof origins === 'function'
      ? origins(origin) === true
      : origins.some((listed) => fits(origin, listed));
  return isListed ? origin : undefined;
};

/** Whether the origin is that of the relay itself. Only the hosts are compared: a proxy may have changed the scheme. */
const isOwn = (origin: string, { url }: Request): boolean =>
  URL.canParse(origin) && new URL(origin).host === new URL(url).host;

/**
 * Whether the request comes from a page that may send. Browsers name the origin of every POST, but for
 * one: a beacon of a page with `Referrer-Policy: no-referrer` says `null`, as does a sandboxed frame.
 * `Sec-Fetch-Site`, which no script can set, tells the two apart.
 * https://fetch.spec.whatwg.org/#append-a-request-origin-header
 */
export const isFromAllowedPage = (request: Request, origins: Origins): boolean => {
  const { headers } = request;
  if (!MODES.includes(headers.get('sec-fetch-mode'))) return false;
  const site = headers.get('sec-fetch-site');
  const listed = listedOrigin(request, origins);
  // A request of a page to its own host is never cross-site. Old browsers do not send this header.
  if (listed) return site !== 'cross-site' || !isOwn(listed, request);
  const origin = headers.get('origin');
  return (origin === null || origin === 'null') && site === 'same-origin';
};

/** Chromium remembers a preflight for no longer. */
export const PREFLIGHT_AGE_S = 7_200;

/**
 * Headers that a page may send. They are named one by one, since `*` would not cover `authorization`
 * (https://fetch.spec.whatwg.org/#cors-non-wildcard-request-header-name).
 */
export const PAGE_HEADERS = [
  ...['authorization', 'content-type', 'content-encoding', 'idempotency-key', 'x-called-at'],
];

/** Adds the headers that let a page of a listed origin read the answer. */
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
      'access-control-allow-headers': PAGE_HEADERS.join(', '),
      'access-control-max-age': String(PREFLIGHT_AGE_S),
    },
  });
