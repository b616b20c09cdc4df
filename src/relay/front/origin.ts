/** Origins of pages that may send: a list, or a function that decides. */
export type Origins = readonly string[] | ((origin: string) => boolean);

interface Rules {
  origins: Origins;
  allowMissingOrigin: boolean;
}

/** The modes of requests by scripts and beacons. A form, a link and a typed address have `navigate`. */
const MODES: readonly (string | null)[] = [null, 'cors', 'no-cors', 'same-origin'];

/** The request's origin, where it is in the list. */
export const listedOrigin = (request: Request, { origins }: Rules): string | undefined => {
  const origin = request.headers.get('origin');
  if (origin === null) return undefined;
  const isListed = typeof origins === 'function' ? origins(origin) : origins.includes(origin);
  return isListed ? origin : undefined;
};

/**
 * Whether the request comes from a page that may send. Browsers name the origin of every POST, but for
 * one: a beacon of a page with `Referrer-Policy: no-referrer` says `null`, as does a sandboxed frame.
 * `Sec-Fetch-Site`, which no script can set, tells the two apart.
 * https://fetch.spec.whatwg.org/#append-a-request-origin-header
 */
export const isFromAllowedPage = (request: Request, rules: Rules): boolean => {
  const { headers } = request;
  if (!MODES.includes(headers.get('sec-fetch-mode'))) return false;
  if (listedOrigin(request, rules)) return true;
  const origin = headers.get('origin');
  if (origin !== null && origin !== 'null') return false;
  const site = headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin';
  return origin === null && rules.allowMissingOrigin;
};
