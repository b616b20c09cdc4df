import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';

export interface ServiceEnv {
  Bindings: HttpBindings;
  /** The request as the service gets it, where its body has been read. */
  Variables: { forwarded: Request | undefined };
}

export type ServiceContext = Context<ServiceEnv>;
