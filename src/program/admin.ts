import type { ServerHealth } from '../relay.js';
import { answerJson } from '../server/http/answers.js';

interface Parts {
  /** The state of the whole program. */
  health: () => Promise<ServerHealth>;
  tryNow: (() => void) | undefined;
  metrics: ((request: Request) => Promise<Response>) | undefined;
}

/** Answers requests at the port for operators. It takes no records, and asks for no password. */
export const createAdmin =
  ({ health, tryNow, metrics }: Parts) =>
  async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname === '/metrics' && metrics) return metrics(request);
    if (pathname === '/live') return answerJson(200, { status: 'ok' });
    if (pathname === '/try-now' && tryNow) {
      if (request.method !== 'POST')
        return new Response(null, { status: 405, headers: { allow: 'POST' } });
      tryNow();
      return new Response(null, { status: 202 });
    }
    const isHealth = pathname === '/health';
    if (!isHealth && pathname !== '/ready') return new Response(null, { status: 404 });
    const known = await health();
    const { status } = known;
    return answerJson(status === 'ok' ? 200 : 503, isHealth ? known : { status });
  };
