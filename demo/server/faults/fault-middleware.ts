import type { MiddlewareHandler } from 'hono';
import { isAuthorized } from '../authorize';
import { readBody, type RequestBody } from '../read-body';
import type { ServiceEnv } from '../service-context';
import { applyFault } from './apply-fault';
import type { FaultSwitch } from './fault-switch';
import type { HeldRequests } from './held-requests';
import type { RequestLog } from './request-log';

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
    const { path } = c.req;
    const body = parse(await readBody(c));
    const request = {
      path,
      body,
      idempotency_key: c.req.header('idempotency-key') || null,
      authorization_ok: isAuthorized(c, tokens),
      user_agent: c.req.header('user-agent') ?? null,
    };
    const entry = c.req.method === 'POST' ? log.add(request) : undefined;
    const rule = faults.take({ path, body });
    if (!rule) await next();
    const status = rule ? await applyFault(c, next, { rule, held }) : c.res.status;
    if (entry) entry.status = status;
  };
}

function parse(body: RequestBody): unknown {
  if (body.kind !== 'text') return null;
  try {
    return JSON.parse(body.text) as unknown;
  } catch {
    return null;
  }
}
