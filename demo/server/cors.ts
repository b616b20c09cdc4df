// Two hours is as long as Chromium remembers a preflight.
const MAX_AGE_S = 7_200;

/**
 * Any page may send, none with credentials: the token travels in a header, so `*` is enough and
 * lets one cached answer serve all. The request headers are named because `*` does not cover
 * `authorization`, and `Retry-After` is exposed because a page could not read it otherwise.
 * https://fetch.spec.whatwg.org/#http-access-control-allow-headers
 */
export function corsHeaders(path: string): Record<string, string> {
  return {
    'access-control-allow-origin': '*',
    'access-control-expose-headers': 'Retry-After',
    ...(path.startsWith('/_/') && { 'cache-control': 'no-store' }),
  };
}

/** What a preflight is told in addition. */
export function preflightHeaders(path: string): Record<string, string> {
  return {
    'access-control-allow-methods': path.startsWith('/_/')
      ? 'GET, POST, PUT, DELETE, OPTIONS'
      : 'POST, OPTIONS',
    'access-control-allow-headers': 'authorization, content-type, idempotency-key',
    'access-control-max-age': String(MAX_AGE_S),
  };
}
