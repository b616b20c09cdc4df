import { Hono } from 'hono';
import { answer, refuse } from './answer';
import { preflightHeaders } from './cors';
import { faultMiddleware } from './faults/fault-middleware';
import { faultRoutes } from './faults/fault-routes';
import { createFaultSwitch } from './faults/fault-switch';
import { createHeldRequests } from './faults/held-requests';
import { createRequestLog } from './faults/request-log';
import { createGroupCommit } from '../../src/relay/queue/libsql/group-commit';
import { openDatabase } from './open-database';
import { readingRoutes } from './reading-routes';
import { recordRoutes } from './record-routes';
import type { ServiceEnv } from './service-context';
import { createRecordWriter } from './write-records';

export interface ServiceOptions {
  /** Path of the database file; created with its folder when missing. */
  database: string;
  /** The API tokens that are accepted. */
  tokens: readonly string[];
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

export type Service = ReturnType<typeof createService>;

/** Builds the service without a port; `start-service.ts` gives it one. */
export function createService(options: ServiceOptions) {
  const { database: path, tokens, faults = false, ignoreKeys = false } = options;
  const database = openDatabase(path);
  const group = createGroupCommit(database);
  const writer = createRecordWriter(database);
  const held = createHeldRequests();
  const app = new Hono<ServiceEnv>();

  // Before all others, so that no fault and no token check ever meets a preflight. Any path: a
  // refused preflight would hide the 404 behind it.
  app.options('*', (c) => answer(c, 204, null, preflightHeaders(c.req.path)));
  if (faults) {
    const parts = { faults: createFaultSwitch(), log: createRequestLog(), held };
    const deleteRecords = (key?: string) => group.run(() => writer.deleteRows(key));
    app.use('/v1/*', faultMiddleware({ tokens, ...parts }));
    app.route('/_', faultRoutes({ deleteRecords, ...parts }));
  }
  app.route('/v1', recordRoutes({ tokens, group, writer, ignoreKeys }));
  app.route('/_', readingRoutes({ database, group, writer }));
  app.notFound((c) => refuse(c, 404));
  app.onError((error, c) => {
    console.error(error);
    return refuse(c, 500);
  });

  return {
    app,
    /** Ends the requests that a fault keeps waiting. */
    endHeld: held.cutAll,
    /** Commits what waits and closes the database. */
    close(): void {
      held.cutAll();
      group.flush();
      database.close();
    },
  };
}
