// Node behind nginx: relay.conf, beside this file, passes on to it. Run: node server.js
import { serve } from '@hono/node-server';
import { createRelay } from 'analytics-outbox/relay';
import { createNodeFetch } from 'analytics-outbox/relay/node';

const { SERVICE_URL, SERVICE_TOKEN, SITE_ORIGIN, PORT = '3000' } = process.env;

const relay = createRelay({
  baseUrl: SERVICE_URL,
  token: SERVICE_TOKEN,
  origins: [SITE_ORIGIN],
  projects: ['shop'],
  channels: ['web'],
  fetch: createNodeFetch(),
  // To be believed because relay.conf writes it, and because nobody but nginx reaches this port.
  clientAddress: (request) => request.headers.get('x-real-ip') ?? undefined,
  onError: ({ kind, message }) => console.error('relay:', kind, message),
});

serve({ fetch: relay, port: Number(PORT), hostname: '127.0.0.1' });
