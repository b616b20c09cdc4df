/**
 * One relay without a queue, as a site would run it. Prints its address; ends on SIGTERM. `FETCH=global` has
 * it ask by Node's `fetch`. `/cpu` answers the CPU milliseconds that it has used.
 */
import { serve } from '@hono/node-server';
import { createNodeFetch } from '../../../dist/relay-node.js';
import { createRelay } from '../../../dist/relay.js';

const { SERVICE_URL, TOKEN, ORIGIN, FETCH } = process.env;

const relay = createRelay({
  baseUrl: SERVICE_URL,
  token: TOKEN,
  origins: [ORIGIN],
  projects: ['load'],
  channels: ['web'],
  rateLimit: false,
  ceiling: false,
  fetch: FETCH === 'global' ? undefined : createNodeFetch(),
});
const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return Response.json((user + system) / 1_000);
};
const answer = (request) => (request.url.endsWith('/cpu') ? cpuMs() : relay(request));
const server = serve({ fetch: answer, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
  console.log(`Relay http://127.0.0.1:${port}`),
);
process.once('SIGTERM', () => server.close());
