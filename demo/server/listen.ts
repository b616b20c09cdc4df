import type { Server, ServerResponse } from 'node:http';

const MAX_TRIES = 50;
export const GRACE_MS = 2_000;

/** The address of a server on a host; one with colons (IPv6) stands in brackets there. */
export const httpUrl = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

/** The address under which a browser on this machine opens it. */
export const ownUrl = (host: string, port: number): string =>
  httpUrl(host === '0.0.0.0' || host === '::' ? 'localhost' : host, port);

/** Where to listen: 0 is any free port. `nextFree` takes the next free one when the port is taken. */
export interface PortChoice {
  port: number;
  nextFree?: boolean | undefined;
}

/** Settles when the server listens; rejects when the port is taken and it must not try the next. */
export const listen = async (
  server: Server,
  { port, nextFree, host }: PortChoice & { host: string },
): Promise<void> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(port + tries - 1, host, () => {
          server.off('error', reject);
          resolve();
        });
      });
    } catch (error) {
      if (!isPortTaken(error) || !nextFree || tries === MAX_TRIES) throw error;
    }
  }
};

export const isPortTaken = (error: unknown): error is Error & { port: number } =>
  error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';

/**
 * Returns the function that stops listening, lets what has arrived be answered, and then closes the connections. A
 * browser sends a request again by itself when its connection closes before the answer.
 */
export const createGracefulClose = (server: Server): (() => Promise<void>) => {
  const open = new Map<ServerResponse, Promise<void>>();
  let isClosing = false;
  server.on('request', (_, response) => {
    // Makes it say `Connection: close`.
    if (isClosing) response.shouldKeepAlive = false;
    const closed = new Promise<void>((resolve) => response.on('close', resolve));
    open.set(
      response,
      closed.then(() => void open.delete(response)),
    );
  });

  return async () => {
    isClosing = true;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const response of open.keys()) response.shouldKeepAlive = false;
    // A client that does not finish sending must not keep the service up.
    const timer = setTimeout(() => server.closeAllConnections(), GRACE_MS);
    // Connections that are open bring more meanwhile.
    while (open.size > 0) await Promise.all(open.values());
    clearTimeout(timer);
    server.closeAllConnections();
    await closed;
  };
};

/** Closes a program that is told to end. The second signal ends the process at once, as usual. */
export const closeOnSignal = (program: { close: () => Promise<void> }): void => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void program.close());
  }
};
