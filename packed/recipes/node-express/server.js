// Node with Express. Run: node server.js
import { getRequestListener } from '@hono/node-server';
import { createRelay } from 'analytics-outbox/relay';
import { createNodeFetch } from 'analytics-outbox/relay/node';
import express from 'express';

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

const app = express();
// Before express.json() and the like: the relay reads the body itself.
app.use(
  '/a',
  getRequestListener(
    (request, { incoming }) => {
      addresses.set(request, incoming.socket.remoteAddress);
      return relay(request);
    },
    { overrideGlobalObjects: false },
  ),
);

app.listen(Number(PORT));
