import type { Handler } from 'hono';
import { refuse } from './answer';
import type { ServiceEnv } from './service-context';

/** Answers every method a path does not have. Register it after those it has. */
export function allowMethods(...methods: string[]): Handler<ServiceEnv> {
  const allow = [...methods, 'OPTIONS'].join(', ');
  return (c) => refuse(c, 405, { headers: { allow } });
}
