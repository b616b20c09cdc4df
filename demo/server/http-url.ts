/** The address of a server on a host; one with colons (IPv6) stands in brackets there. */
export const httpUrl = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
