import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A request that waits for its answer. */
export interface Held {
  path: string;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
  response: ServerResponse;
  /** Answers as the service does when all went well. */
  pass: () => void;
}

/** A service over HTTP that answers only when it is told to, until the test ends. */
export async function runHeldService() {
  const got: Held[] = [];
  const waiting = new Set<{ count: number; resolve: () => void }>();
  let isOpen = false;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const held: Held = {
        path: request.url!,
        headers: request.headers,
        body: JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>,
        response,
        pass: () => response.end('{"success":true,"message":"ok"}'),
      };
      got.push(held);
      if (isOpen) held.pass();
      for (const wait of waiting) if (got.length >= wait.count) wait.resolve();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    got,
    /** Names of events and users of identifies, in the order they came. */
    names: () =>
      got.map(({ body }) => String(body['event'] ?? `identify ${String(body['user_id'])}`)),
    /** Settles when so many requests have come. */
    arrived: (count: number) =>
      new Promise<void>((resolve) => {
        if (got.length >= count) resolve();
        else waiting.add({ count, resolve });
      }),
    /** Answers what waits, and from now on everything at once. */
    open: () => {
      isOpen = true;
      for (const { pass } of got) pass();
    },
  };
}
