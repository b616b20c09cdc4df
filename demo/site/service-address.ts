const HOST = /^([a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/**
 * The service as the browser can reach it: under the name it has used for the page, on the service's
 * port. Undefined for a `Host` that is no host: it goes into the page and its policy.
 */
export const serviceAddress = (host: string | undefined, port: number): string | undefined => {
  const name = HOST.exec(host ?? '')?.[1];
  return name && `http://${name}:${port}`;
};
