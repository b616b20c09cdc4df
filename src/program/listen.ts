import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createConnections } from './connections.js';
import { load } from '../util/load.js';

/** How long a connection may be idle: longer than browsers and proxies keep it, so they never use a closed one. */
const KEEP_ALIVE_MS = 75_000;
/** The share of connections among the files that this process may have open. */
const OF_OPEN_FILES = 0.9;
/** How long requests under way may take after the program was told to stop. */
const END_MS = 5_000;

const REFUSALS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use',
  EACCES: 'needs rights that this user does not have',
  EADDRNOTAVAIL: 'is at an address (`HOST`) that this machine does not have',
  ENOTFOUND: 'is at a `HOST` that does not exist',
};

interface Place {
  /** The setting that names the port. */
  name: 'PORT' | 'ADMIN_PORT';
  host: string | undefined;
  port: number;
  /** Takes one of the next ports if this one is in use. */
  nextFree?: boolean;
  /** How many files this process may have open. @default as the system says */
  openFiles?: number;
  /** Answers a request from an address. */
  answer: (request: Request, address: string | undefined) => Response | Promise<Response>;
}

/** Where a program listens. */
export interface Door {
  /** For people. */
  url: string;
  port: number;
  /** Settles when the requests under way are answered. After a while the others are cut off. */
  end: () => Promise<void>;
}

/** Ports that are tried in turn. */
const MOST_PORTS = 20;

/** Serves at a port, or rejects with words that name the setting. */
export const listen = async (place: Place): Promise<Door> => {
  for (let port = place.port; ; port++) {
    try {
      return await listenAt({ ...place, port });
    } catch (error) {
      const { cause } = error as { cause?: NodeJS.ErrnoException };
      const mayGoOn = place.nextFree && cause?.code === 'EADDRINUSE';
      if (!mayGoOn || port - place.port >= MOST_PORTS) throw error;
    }
  }
};

/** How much of a refused body is read, and for how long, so that its client sees the answer. */
const [DRAIN_BYTES, DRAIN_MS] = [2_097_152, 10_000];

/**
 * Reads the rest of a request. If the connection is closed while the client still sends, the client sees an error in
 * place of the answer.
 */
const drain = (incoming: IncomingMessage): Promise<void> =>
  new Promise((resolve) => {
    let left = DRAIN_BYTES;
    const timer = setTimeout(resolve, DRAIN_MS);
    const end = () => {
      clearTimeout(timer);
      incoming.pause();
      resolve();
    };
    incoming.removeAllListeners('data'); // those of the reader that has given up
    incoming.on('data', ({ length }: Buffer) => (left -= length) < 0 && end());
    for (const event of ['end', 'close', 'error'] as const) incoming.once(event, end);
    incoming.resume();
  });

/** Statuses for bytes that are no request, by the code of Node's error. Without an entry it is 400. */
const CLIENT_ERRORS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/**
 * Closes the connection if the body fails, so that the client does not take a part for the whole. `@hono/node-server`
 * does that, too, but it also prints the error, which is in the log already.
 */
const cutOffWhereItFails = (response: Response, outgoing: ServerResponse): Response => {
  const reader = response.body?.getReader();
  if (!reader) return response;
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch {
        outgoing.destroy();
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return new Response(body, response);
};

/** How many files this process may have open. Windows does not say. */
const mostOpenFiles = (): number => {
  const report = process.report as NodeJS.ProcessReport & { excludeNetwork?: boolean };
  report.excludeNetwork = true; // reading the network would take seconds
  const { userLimits } = report.getReport() as {
    userLimits?: { open_files?: { soft?: number | 'unlimited' } };
  };
  return Number(userLimits?.open_files?.soft) || Infinity;
};

const listenAt = async (place: Place): Promise<Door> => {
  const { name, host, port, answer, openFiles = mostOpenFiles() } = place;
  const { getRequestListener } = await load('@hono/node-server', () => import('@hono/node-server'));
  const listener = getRequestListener(async (request, { incoming, outgoing }) => {
    // A `Host` such as 1.2.3.4.5 makes an address that cannot be parsed.
    if (!URL.canParse(request.url)) return new Response(null, { status: 400 });
    const response = await answer(request, incoming.socket.remoteAddress);
    if (response.status >= 400 && !incoming.complete) await drain(incoming as IncomingMessage);
    // If a feed fails, it ends like any other, and its client connects again. Only a file has to be cut off.
    const isFile = response.headers.has('content-disposition');
    return isFile ? cutOffWhereItFails(response, outgoing as ServerResponse) : response;
  });
  const connections = createConnections(OF_OPEN_FILES * openFiles);
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (incoming, outgoing) => {
    if (connections.mayAnswer(incoming, outgoing)) void listener(incoming, outgoing);
  });
  server.on('connection', connections.opened);
  server.on('clientError', ({ code = '' }: NodeJS.ErrnoException, socket: Socket) => {
    // A parser that is paused reports that as an error.
    if (connections.isHeld(socket)) return void socket.pause();
    if (!socket.writable) return void socket.destroy();
    const status = CLIENT_ERRORS[code] ?? '400 Bad Request';
    // Destroys the socket after that, since a client might never close its side.
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`, () => socket.destroy());
  });
  server.listen(port, host);
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    const words = REFUSALS[error.code ?? ''];
    throw words ? new Error(`\`${name}\`: port ${port} ${words}`, { cause: error }) : error;
  });
  const address = server.address() as AddressInfo;
  return {
    url: urlOf(address),
    port: address.port,
    end: async (): Promise<void> => {
      const ended = once(server, 'close');
      server.close();
      connections.closeHeld();
      // A connection that a proxy keeps open becomes idle after its last answer.
      const sweeping = setInterval(() => server.closeIdleConnections(), 100);
      const cutting = setTimeout(() => server.closeAllConnections(), END_MS);
      await ended;
      clearInterval(sweeping);
      clearTimeout(cutting);
    },
  };
};

const urlOf = ({ address, family, port }: AddressInfo): string => {
  if (address === '::' || address === '0.0.0.0') return `http://localhost:${port} (all addresses)`;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
};
