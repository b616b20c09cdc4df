import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startService } from '../../demo/server/start-service.js';

export const ORIGIN = 'https://shop.example';
export const TOKEN = 'tok_packed';

/** An event or an identify as the service keeps it; what it lacks is undefined. */
interface Row {
  id: number;
  idempotency_key: string;
  project: string;
  channel?: string;
  event?: string;
  user_id: string;
  tags?: Record<string, unknown>;
  timestamp?: string;
  properties?: Record<string, unknown>;
}

/** A service in this process with a database of its own. `ignoreKeys`: it stores a repeat again. */
export const openService = async ({ ignoreKeys = false } = {}) => {
  const folder = mkdtempSync(join(tmpdir(), 'packed-service-'));
  const database = join(folder, 'service.db');
  const service = await startService({ port: 0, database, tokens: [TOKEN], ignoreKeys });
  const read = async (kind: 'events' | 'identifies', limit = 10_000) => {
    const response = await fetch(`${service.url}/_/${kind}?limit=${limit}`);
    return (await response.json()) as { total: number } & Record<typeof kind, Row[]>;
  };
  return {
    url: service.url,
    clear: () => fetch(`${service.url}/_/records`, { method: 'DELETE' }),
    events: async () => (await read('events')).events,
    identifies: async () => (await read('identifies')).identifies,
    count: async () => (await read('events', 1)).total + (await read('identifies', 1)).total,
    close: async () => {
      await service.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

export type Service = Awaited<ReturnType<typeof openService>>;

export interface SentRecord {
  id: string;
  type: 'event' | 'identify';
  body: Record<string, unknown>;
}

/** Sends records to a relay as a page on the site does. */
export const postBatch = (url: string, records: readonly SentRecord[]): Promise<Response> =>
  fetch(`${url}/v1/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: ORIGIN },
    body: JSON.stringify({ sent_at: new Date().toISOString(), records }),
  });
