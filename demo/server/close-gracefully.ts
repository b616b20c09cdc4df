import type { Server, ServerResponse } from 'node:http';

export const GRACE_MS = 2_000;

/**
 * Returns the function that stops listening, lets what has arrived be answered, and then closes the
 * connections. A browser sends a request again by itself when its connection closes before the
 * answer.
 */
export function createGracefulClose(server: Server): () => Promise<void> {
  const open = new Set<ServerResponse>();
  server.on('request', (_, response) => {
    open.add(response);
    response.on('close', () => open.delete(response));
  });

  return async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    const answered = [...open].map((response) => {
      // Makes it say `Connection: close`, when its headers are not out yet.
      response.shouldKeepAlive = false;
      return new Promise<void>((resolve) => response.on('close', resolve));
    });
    // A client that does not finish sending must not keep the service up.
    const timer = setTimeout(() => server.closeAllConnections(), GRACE_MS);
    await Promise.all(answered);
    clearTimeout(timer);
    server.closeAllConnections();
    await closed;
  };
}
