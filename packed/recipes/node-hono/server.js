// Node with hono. Run: node server.js
import { serve } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import { createRelay } from 'analytics-outbox/relay';
import { createNodeFetch } from 'analytics-outbox/relay/node';
import { Hono } from 'hono';

const { SERVICE_URL, SERVICE_TOKEN, SITE_ORIGIN, PORT = '3000' } = process.env;

/** That of the connection, which no client can write. Behind a proxy: see the recipe for nginx. */
const addresses = new WeakMap();

const relay = createRelay({
  baseUrl: SERVICE_URL,
  token: SERVICE_TOKEN,
  origins: [SITE_ORIGIN],
  projects: ['shop'],
  channels: ['web'],
  fetch: createNodeFetch(),
  clientAddress: (request) => addresses.get(request),
  onError: ({ kind, message }) => console.error('relay:', kind, message),
});

const app = new Hono();
app.all('/a/*', (c) => {
  addresses.set(c.req.raw, getConnInfo(c).remote.address);
  return relay(c.req.raw);
});

serve({ fetch: app.fetch, port: Number(PORT) });
