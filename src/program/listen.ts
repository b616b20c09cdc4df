import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { load } from './store.js';

/** How long requests under way may take when the program is told to stop. */
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
  /** Takes one of the next ports where this one is in use. */
  nextFree?: boolean;
  /** Answers a request of a client at an address. */
  answer: (request: Request, address: string | undefined) => Response | Promise<Response>;
}

/** Where a program listens. */
export interface Door {
  /** For people. */
  url: string;
  port: number;
  /** Answers requests under way. What is not complete after a while is cut off, half-sent requests too. */
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

const listenAt = async ({ name, host, port, answer }: Place): Promise<Door> => {
  const { serve } = await load('@hono/node-server', () => import('@hono/node-server'));
  const server = serve({
    port,
    ...(host !== undefined && { hostname: host }),
    fetch: (request, { incoming }) => answer(request, incoming.socket.remoteAddress),
  }) as Server;
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
