interface Parts {
  nonce: string;
  service: string;
}

/** A strict policy: the script tag must work where a careful website would put it. */
export const pageHeaders = ({ nonce, service }: Parts): Record<string, string> => ({
  'content-security-policy': [
    "default-src 'self'",
    `connect-src 'self' ${service}`,
    `script-src 'self' 'nonce-${nonce}'`,
    "object-src 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  // Not `no-store`: that keeps a page out of the back/forward cache.
  'cache-control': 'no-cache',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
});
