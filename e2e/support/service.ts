import { join } from 'node:path';
import type { Page } from '@playwright/test';
import type { FaultRule } from '../../demo/server/fault-rules.js';
import type { LoggedRequest } from '../../demo/server/faults.js';
import { startService } from '../../demo/server/start-service.js';
import { isSettled } from './settled.js';
import { tally, type Tally } from './tally.js';
import { until, untilQuiet } from './until.js';

export const TOKEN = 'test-token';

const HOLDS_WITHIN_MS = 60_000;
const SETTLES_WITHIN_MS = 60_000;
const QUIET_MS = 200;
/** Rows that the reading side gives at a time, at the most. */
const PAGE = 10_000;

/** An event as the reading side of the service tells it, in the order they were stored. */
export interface StoredEvent {
  id: number;
  project: string;
  channel: string;
  event: string;
  description: string | null;
  icon: string | null;
  notify: boolean;
  tags: Record<string, unknown>;
  user_id: string | null;
  timestamp: string;
  received_at: string;
  idempotency_key: string | null;
}

/** An identify call. */
export interface StoredIdentify {
  id: number;
  project: string;
  user_id: string;
  properties: Record<string, unknown>;
  received_at: string;
  idempotency_key: string | null;
}

/** What the identify calls of one user came to. */
export interface StoredProfile {
  id: number;
  project: string;
  user_id: string;
  properties: Record<string, unknown>;
  created_at: string;
  updated_at: string;
}

/** What the database is to hold. A list left out is not looked at. */
export interface Expected {
  /** Names of events, each as often as it is to be there. */
  events?: readonly string[];
  /** User ids of identify calls, each as often as it is to be there. */
  identifies?: readonly string[];
}

export interface HoldsOptions {
  /** Pages that must report nothing waiting and nothing in flight before the last look. */
  pages?: readonly Page[];
  /** Milliseconds until everything must have come. @default 60000 */
  within?: number;
  /** Milliseconds without a request before the last look. @default 200 */
  quietFor?: number;
}

export type Service = Awaited<ReturnType<typeof createService>>;

/** The demo service with a database and a fault switch of its own, started and ready. */
export const createService = async (folder: string) => {
  const database = join(folder, 'service.db');
  const start = (port: number) =>
    startService({ port, database, tokens: [TOKEN], faults: true, host: '127.0.0.1' });

  let running: Awaited<ReturnType<typeof start>> | undefined = await start(0);
  const { url, port } = running;

  const ask = async (path: string, init?: RequestInit): Promise<unknown> => {
    // A connection each: one that is kept would outlive a restart of the service and fail there.
    const headers = { connection: 'close', 'content-type': 'application/json' };
    const response = await fetch(url + path, { ...init, headers });
    if (!response.ok) throw new Error(`${path} answered ${response.status}`);
    return response.json();
  };
  const list = async <Row>(name: string, after = 0): Promise<Row[]> => {
    const path = `/_/${name}?limit=${PAGE}&after=${after}`;
    const rows = ((await ask(path)) as Record<string, Row[]>)[name]!;
    if (rows.length < PAGE || name === 'requests') return rows;
    return [...rows, ...(await list<Row>(name, (rows.at(-1) as { id: number }).id))];
  };

  const events = () => list<StoredEvent>('events');
  const identifies = () => list<StoredIdentify>('identifies');
  const requests = () => list<LoggedRequest>('requests');
  /** How many requests there were; the log has the newest of them. */
  const asked = async () => (await requests()).at(-1)?.n ?? 0;

  const compare = async (expected: Expected): Promise<Tally> => {
    const names = expected.events ? (await events()).map((row) => row.event) : [];
    const users = expected.identifies ? (await identifies()).map((row) => row.user_id) : [];
    const asUser = (user: string) => `identify ${user}`;
    return tally(
      [...(expected.events ?? []), ...(expected.identifies ?? []).map(asUser)],
      [...names, ...users.map(asUser)],
    );
  };

  const settle = async ({ pages = [], quietFor = QUIET_MS }: HoldsOptions): Promise<void> => {
    const within = SETTLES_WITHIN_MS;
    for (const page of pages) {
      if (!(await until(() => isSettled(page), { within }))) {
        throw new Error(`${page.url()} still reports records that wait or are in flight`);
      }
    }
    if (!(await untilQuiet(asked, { quietFor, within }))) {
      throw new Error('requests keep coming to the service');
    }
  };

  return {
    url,
    port,
    token: TOKEN,
    events,
    identifies,
    profiles: () => list<StoredProfile>('profiles'),
    requests,
    asked,
    /** Sets the fault rules, in place of those before; none clears them. */
    faults: (rules: readonly FaultRule[]) =>
      ask('/_/faults', { method: 'PUT', body: JSON.stringify(rules) }).then(() => undefined),

    /** An outage: connections are refused until `start`. */
    stop: async (): Promise<void> => {
      await running?.close();
      running = undefined;
    },
    /** Back on the same port with the same database. */
    start: async (): Promise<void> => {
      running ??= await start(port);
    },

    /**
     * Waits until the database holds exactly this, then makes sure that nothing more comes.
     * Fails with a table of what came never, once, twice.
     */
    holds: async (expected: Expected, options: HoldsOptions = {}): Promise<void> => {
      const { within = HOLDS_WITHIN_MS } = options;
      let seen = await compare(expected);
      await until(
        async () => {
          seen = await compare(expected);
          return seen.isExact || seen.isOver;
        },
        { within },
      );
      if (seen.isExact) {
        await settle(options);
        seen = await compare(expected);
      }
      if (!seen.isExact) throw new Error(`The service's database holds:\n${seen.table}`);
    },
  };
};
