/**
 * A store behind one address, and nothing else: takes batches as a relay does, and answers when they are stored. So it
 * tells what the store does from what the service does. DATABASE_URL: where to. Prints its address.
 */
import { serve } from '@hono/node-server';
import { openStore } from './open-store.mjs';

const store = await openStore(process.env.DATABASE_URL);

const take = async (request) => {
  const { records } = await request.json();
  const receivedAt = new Date().toISOString();
  const incoming = records.map(({ id, type, body }) => ({
    ...{ id, type, body, receivedAt },
    calledAt: body.timestamp ?? receivedAt,
  }));
  const written = await store.write(incoming);
  const results = written.map(({ outcome }, index) => ({
    id: records[index].id,
    outcome: outcome === 'dead' ? 'rejected' : 'delivered',
  }));
  return Response.json({ results });
};
const answer = (request) =>
  take(request).catch(({ message }) => new Response(message, { status: 503 }));
const server = serve({ fetch: answer, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
  console.log(`Store http://127.0.0.1:${port}`),
);
process.once('SIGTERM', () => server.close(() => store.close()));
