// Deno. Run: deno run --check --allow-env --allow-net main.ts
import { createRelay } from 'analytics-outbox/relay';

const setting = (name: string): string => Deno.env.get(name) ?? '';

/** That of the connection, which no client can write. */
const addresses = new WeakMap<Request, string>();

const relay = createRelay({
  baseUrl: setting('SERVICE_URL'),
  token: setting('SERVICE_TOKEN'),
  origins: [setting('SITE_ORIGIN')],
  projects: ['shop'],
  channels: ['web'],
  clientAddress: (request) => addresses.get(request),
  onError: ({ kind, message }) => console.error('relay:', kind, message),
});

Deno.serve({ port: Number(setting('PORT') || 3000) }, (request, { remoteAddr }) => {
  const isForRelay = new URL(request.url).pathname.startsWith('/a/');
  if (!isForRelay) return new Response('Not found', { status: 404 });
  addresses.set(request, remoteAddr.hostname);
  return relay(request);
});
