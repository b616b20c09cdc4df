import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { RequestBody } from './read-body';

export interface ServiceEnv {
  Bindings: HttpBindings;
  Variables: { body: Promise<RequestBody> };
}

export type ServiceContext = Context<ServiceEnv>;
