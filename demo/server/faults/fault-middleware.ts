import type { MiddlewareHandler } from 'hono';
import { bearerOf } from '../../../src/service/tokens.js';
import type { ServiceContext, ServiceEnv } from '../service-context.js';
import { applyFault } from './apply-fault.js';
import type { FaultSwitch } from './fault-switch.js';
import type { HeldRequests } from './held-requests.js';
import type { RequestLog } from './request-log.js';

export interface FaultParts {
  tokens: readonly string[];
  faults: FaultSwitch;
  held: HeldRequests;
  log: RequestLog;
}

/** Logs each request and lets it meet its fault, before the token and the body are looked at. */
export function faultMiddleware(parts: FaultParts): MiddlewareHandler<ServiceEnv> {
  const { tokens, faults, held, log } = parts;
  return async (c, next) => {
    if (c.req.method === 'OPTIONS') return next();
    const { path } = c.req;
    const body = await readBody(c);
    const request = {
      path,
      body,
      idempotency_key: c.req.header('idempotency-key') || null,
      authorization_ok: tokens.includes(bearerOf(c.req.raw) ?? ''),
      user_agent: c.req.header('user-agent') ?? null,
    };
    const entry = c.req.method === 'POST' ? log.add(request) : undefined;
    const rule = faults.take({ path, body });
    if (!rule) await next();
    const status = rule ? await applyFault(c, next, { rule, held }) : c.res.status;
    if (entry) entry.status = status;
  };
}

/** The parsed body, or null. The service gets a request of its own with what was read. */
async function readBody(c: ServiceContext): Promise<unknown> {
  if (c.req.method !== 'POST') return null;
  const { url, method, headers } = c.req.raw;
  const bytes = await c.req.raw.arrayBuffer().catch(() => new ArrayBuffer()); // the client has left
  c.set('forwarded', new Request(url, { method, headers, body: bytes }));
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown;
  } catch {
    return null;
  }
}
