import type { Server, ServerResponse } from 'node:http';

export const GRACE_MS = 2_000;

/**
 * Returns the function that stops listening, lets what has arrived be answered, and then closes the
 * connections. A browser sends a request again by itself when its connection closes before the
 * answer.
 */
export function createGracefulClose(server: Server): () => Promise<void> {
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
}
