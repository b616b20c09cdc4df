import { dirname } from 'node:path';
import { Hono } from 'hono';
import { cors } from 'hono/cors';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { createLibsqlStore } from '../../src/service-libsql.js';
import { createClientAddress } from '../../src/program/client-address.js';
import { mountService } from '../../src/program/mount-service.js';
import { readServiceSettings } from '../../src/program/service-settings.js';
import { createDeleteRows } from './delete-rows.js';
import { faultMiddleware } from './faults/fault-middleware.js';
import { faultRoutes } from './faults/fault-routes.js';
import { createFaultSwitch } from './faults/fault-switch.js';
import { createHeldRequests } from './faults/held-requests.js';
import { createRequestLog } from './faults/request-log.js';
import { forward } from './forward.js';
import { readingRoutes } from './reading-routes.js';
import type { ServiceEnv } from './service-context.js';

export interface ServiceOptions {
  /** Path of the database file; created with its folder when missing. */
  database: string;
  /** The API tokens that are accepted. */
  tokens: readonly string[];
  /** The address at which it is to be reached. @default '127.0.0.1' */
  host?: string | undefined;
  /**
   * Adds the fault switch and the request log, for tests.
   * @default false
   */
  faults?: boolean | undefined;
  /**
   * Stores a repeat of an `Idempotency-Key` like any other request: a service without that feature.
   * @default false
   */
  ignoreKeys?: boolean | undefined;
}

export type Service = Awaited<ReturnType<typeof createService>>;

/** The same folder seen from this file and from the built one. */
const DIST = new URL('../../dist/', import.meta.url);

/**
 * The program of the service with a fault switch around its two operations, without a port; `start-service.ts` gives it
 * one.
 */
export async function createService(options: ServiceOptions) {
  const { database, tokens, host = '127.0.0.1', faults = false, ignoreKeys = false } = options;
  const store = createLibsqlStore({ path: database });
  const client = createClientAddress(undefined);
  const settings = {
    ...readServiceSettings({}),
    ...({ folder: dirname(database), host, rateLimit: false, ceiling: false } as const),
    writeTokens: tokens.map((token) => ({ token, projects: '*' as const })),
  };
  const log = { info: () => {}, error: (line: string) => console.error(line) };
  const mounted = await mountService(settings, {
    ...{ log, store, files: DIST, clientAddress: client.of },
  });
  const deleteRecords = createDeleteRows(database, store);
  const held = createHeldRequests();
  const app = new Hono<ServiceEnv>();

  app.use(
    '/_/*',
    cors({ origin: '*', allowMethods: ['GET', 'PUT', 'DELETE'], allowHeaders: ['content-type'] }),
    async (c, next) => {
      await next();
      c.res.headers.set('cache-control', 'no-store');
    },
  );
  app.use(
    methodNotAllowed({
      app,
      onMethodNotAllowed: (c) => c.json({ code: 405, message: 'Method not allowed' }, 405),
    }),
  );
  if (faults) {
    const parts = { faults: createFaultSwitch(), log: createRequestLog(), held };
    app.use('/v1/*', faultMiddleware({ tokens, ...parts }));
    app.route('/_', faultRoutes({ deleteRecords, ...parts }));
  }
  app.route('/_', readingRoutes(store, deleteRecords));
  app.all('*', async (c) => {
    const request = await forward(c.get('forwarded') ?? c.req.raw, { ignoreKeys });
    client.note(request, c.env.incoming?.socket.remoteAddress);
    return mounted.answer(request);
  });

  return {
    app,
    /** The tag to paste, once the address is known. */
    tag: mounted.tag,
    start: mounted.start,
    /** Ends the requests that a fault keeps waiting. */
    endHeld: held.cutAll,
    /** Commits what waits and closes the database. */
    close(): Promise<void> {
      held.cutAll();
      return mounted.close();
    },
  };
}
