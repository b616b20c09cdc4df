import type { MiddlewareHandler } from 'hono';
import { refuse } from './answer';
import type { ServiceContext, ServiceEnv } from './service-context';

/** Whether the request has `Authorization: Bearer <token>` with a known token. */
export function isAuthorized(c: ServiceContext, tokens: readonly string[]): boolean {
  const token = /^Bearer +(\S+) *$/i.exec(c.req.header('authorization') ?? '')?.[1];
  return token !== undefined && tokens.includes(token);
}

export function authorize(tokens: readonly string[]): MiddlewareHandler<ServiceEnv> {
  return async (c, next) => {
    if (isAuthorized(c, tokens)) return next();
    return refuse(c, 401, { headers: { 'www-authenticate': 'Bearer' } });
  };
}
