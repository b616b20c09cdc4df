/** Whether a host is this machine, as its name says. IPv6 stands in brackets in an address, and without them in `HOST`. */
export const isLocalName = (host: string): boolean =>
  /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);

/** Whether pages of an origin are on this machine. */
export const isLocalOrigin = (origin: string): boolean =>
  URL.canParse(origin) && isLocalName(new URL(origin).hostname);
