// Bun. Run: bun server.ts
import { createRelay } from 'analytics-outbox/relay';

const { SERVICE_URL = '', SERVICE_TOKEN = '', SITE_ORIGIN = '', PORT = '3000' } = process.env;

/** That of the connection, which no client can write. */
const addresses = new WeakMap<Request, string | undefined>();

const relay = createRelay({
  baseUrl: SERVICE_URL,
  token: SERVICE_TOKEN,
  origins: [SITE_ORIGIN],
  projects: ['shop'],
  channels: ['web'],
  clientAddress: (request) => addresses.get(request),
  onError: ({ kind, message }) => console.error('relay:', kind, message),
});

interface Server {
  requestIP(request: Request): { address: string } | null;
}

export default {
  port: Number(PORT),
  fetch(request: Request, server: Server): Response | Promise<Response> {
    const isForRelay = new URL(request.url).pathname.startsWith('/a/');
    if (!isForRelay) return new Response('Not found', { status: 404 });
    addresses.set(request, server.requestIP(request)?.address);
    return relay(request);
  },
};
