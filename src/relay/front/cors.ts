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
