/** Reads each body and answers 204, on the same server as the relay: what cannot be gone below. */
import { serve } from '@hono/node-server';

const answer = async (request) => {
  await request.arrayBuffer();
  return new Response(null, { status: 204 });
};
serve({ fetch: answer, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
  console.log(`Bare http://127.0.0.1:${port}`),
);
