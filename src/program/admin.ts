import type { Consumer, Relay } from '../relay.js';

interface Parts {
  relay: Relay;
  consumer: Pick<Consumer, 'tryNow'> | undefined;
  metrics: ((request: Request) => Promise<Response>) | undefined;
}

/** Answers at the port for people who operate a relay. It takes no records, and asks for no password. */
export const createAdmin =
  ({ relay, consumer, metrics }: Parts) =>
  async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname === '/metrics' && metrics) return metrics(request);
    if (pathname === '/live' || pathname === '/ready') return relay(request);
    if (pathname === '/try-now' && consumer) {
      if (request.method !== 'POST')
        return new Response(null, { status: 405, headers: { allow: 'POST' } });
      consumer.tryNow();
      return new Response(null, { status: 202 });
    }
    if (pathname !== '/health') return new Response(null, { status: 404 });
    const health = relay.health();
    const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
    const status = health.status === 'ok' ? 200 : 503;
    return new Response(JSON.stringify(health), { status, headers });
  };
