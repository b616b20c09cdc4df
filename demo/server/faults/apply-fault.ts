import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Next } from 'hono';
import type { ServiceContext } from '../service-context';
import type { FaultRule } from './fault-rule';
import type { HeldRequests } from './held-requests';

const BODYLESS = [204, 205, 304];

/** Lets the request meet the rule. Says the status answered: 0 when there was no answer. */
export async function applyFault(
  c: ServiceContext,
  next: Next,
  { rule, held }: { rule: FaultRule; held: HeldRequests },
): Promise<number> {
  if (rule.after) await next();
  if (rule.delay !== undefined && !(await held.hold(c.env, rule.delay))) return sendNothing(c);
  if (rule.hang) {
    await held.hold(c.env);
    return sendNothing(c);
  }
  if (rule.reset) {
    c.env.incoming.socket.resetAndDestroy();
    return sendNothing(c);
  }
  if (rule.status !== undefined) replaceAnswer(c, faultAnswer(rule.status, rule));
  else if (!rule.after) await next();
  if (rule.status === undefined && rule.headers) setHeaders(c.res.headers, rule.headers);
  return c.res.status;
}

function sendNothing(c: ServiceContext): 0 {
  replaceAnswer(c, RESPONSE_ALREADY_SENT);
  return 0;
}

/** Hono would copy the headers of the first answer to the second. */
function replaceAnswer(c: ServiceContext, response: Response): void {
  c.res = undefined;
  c.res = response;
}

/** As the service's own answers: a page may read it. */
const PAGE_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'Retry-After',
};

function faultAnswer(status: number, { body, headers = {} }: FaultRule): Response {
  const hasBody = !BODYLESS.includes(status);
  const all = new Headers({
    ...PAGE_HEADERS,
    ...(hasBody && { 'content-type': 'application/json' }),
  });
  setHeaders(all, headers);
  const text = typeof body === 'string' ? body : JSON.stringify(body ?? usualBody(status));
  return new Response(hasBody ? text : null, { status, headers: all });
}

const usualBody = (status: number) =>
  status < 300 ? { success: true, message: 'Fault' } : { code: status, message: 'Fault' };

function setHeaders(target: Headers, headers: NonNullable<FaultRule['headers']>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (value === null) target.delete(name);
    else target.set(name, value);
  }
}
