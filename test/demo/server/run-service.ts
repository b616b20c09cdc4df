import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { FaultRule } from '../../../demo/server/fault-rules.js';
import type { LoggedRequest } from '../../../demo/server/faults.js';
import { startService } from '../../../demo/server/start-service.js';
import { postOf, TOKEN } from '../../server/support/run-service.js';
import { tempFolder } from '../../support/temp-folder.js';

type Row = Record<string, unknown> & { id: number };

/** Runs the service of the demo on its own database until the test ends, and talks to it over HTTP. */
export const runService = async ({ faults = false, ignoreKeys = false } = {}) => {
  const database = join(tempFolder(), 'service.db');
  const service = await startService({ port: 0, database, tokens: [TOKEN], faults, ignoreKeys });
  onTestFinished(service.close);
  const send = (path: string, init?: RequestInit) => fetch(service.url + path, init);
  const json = async <Value>(path: string) => (await (await send(path)).json()) as Value;
  const list = <Name extends string>(name: Name, query = '') =>
    json<Record<Name, Row[]> & { total: number }>(`/_/${name}${query}`);
  return {
    ...{ url: service.url, port: service.port, close: service.close, send, json, list },
    post: (path: string, body: unknown, headers: Readonly<Record<string, string | null>> = {}) =>
      send(path, postOf(body, headers)),
    /** The names of the events that are stored. */
    names: async () => (await list('events')).events.map((row) => row['event']),
    requests: async () => (await json<{ requests: LoggedRequest[] }>('/_/requests')).requests,
    setFaults: (...rules: FaultRule[]) =>
      send('/_/faults', {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(rules),
      }),
  };
};
