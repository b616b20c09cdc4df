/** One relay without a queue, as a site would run it. Prints its address; ends on SIGTERM. */
import { serve } from '@hono/node-server';
import { createRelay } from '../../dist/relay.js';

const { SERVICE_URL, TOKEN, ORIGIN } = process.env;

const relay = createRelay({
  baseUrl: SERVICE_URL,
  token: TOKEN,
  origins: [ORIGIN],
  projects: ['load'],
  channels: ['web'],
});
const server = serve({ fetch: relay, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
  console.log(`Relay http://127.0.0.1:${port}`),
);
process.once('SIGTERM', () => server.close());
