import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Connections } from './connections.js';
import { literal, postgresDialect, quoted } from './dialect.js';

/** How often followers look for new rows without a notice, which may be lost with its connection or in a pooler. */
const LOOK_MS = 2_000;
/** The pause between two notices to other processes. */
const PAUSE_MS = 50;

/**
 * Calls followers when something was stored: at once by this process, and after a notice of Postgres by another one. A
 * notice goes out after the commit. Inside the transaction it would make commits of the whole Postgres server wait for
 * each other.
 */
export const createFollowers = (database: Connections, schema: string) => {
  const { table } = postgresDialect(schema);
  const followers = new Set<() => void>();
  let listener: pg.Client | undefined;
  let timer: ReturnType<typeof setInterval> | undefined;
  let seen: string | undefined;
  const notice = `SELECT pg_notify(${literal(schema)}, '')`;

  const tell = (): void => followers.forEach((onRows) => onRows());

  let isNotifying = false;
  let isDue = false;
  /** Sends one notice for all that is stored until it goes out. If it is lost, the others look for themselves. */
  const notify = async (): Promise<void> => {
    isDue = true;
    if (isNotifying) return;
    isNotifying = true;
    while (isDue) {
      isDue = false;
      await database.read(notice).catch(() => {});
      await sleep(PAUSE_MS, undefined, { ref: false });
    }
    isNotifying = false;
  };

  const listen = async (): Promise<void> => {
    const client = await database.connect();
    listener = client.on('notification', tell).on('end', () => {
      if (listener === client) listener = undefined;
    });
    await client.query(`LISTEN ${quoted(schema)}`);
    if (!followers.size) await stop();
  };
  const look = async (): Promise<void> => {
    const lastOf = (name: string) => `(SELECT max(seq) FROM ${table(name)})`;
    const [row] = await database.read<{ places: string }>(
      `SELECT concat_ws(' ', ${lastOf('records')}, 'and', ${lastOf('refused')}, 'and',
        (SELECT count(*) || ' ' || sum(place) FROM ${table('erasures')} WHERE is_done = 1)) AS places`,
    );
    if (seen !== undefined && seen !== row!.places) tell();
    seen = row!.places;
  };
  let isBusy = false;
  const check = async (): Promise<void> => {
    if (isBusy) return;
    isBusy = true;
    try {
      if (!listener) {
        await listen();
        tell(); // rows may have been stored before this connection listened
      }
      await look();
    } catch {
      // The database is away. Writes report it, and the next look finds the missed rows.
    }
    isBusy = false;
  };
  const stop = async (): Promise<void> => {
    clearInterval(timer);
    timer = seen = undefined;
    const client = listener;
    listener = undefined;
    await client?.end().catch(() => {});
  };

  return {
    /** Called when something was stored or refused, and is committed. */
    told: (): void => {
      tell();
      void notify();
    },
    follow: (onRows: () => void): (() => void) => {
      // A function of its own, since the same function may be given twice.
      const follower = () => onRows();
      followers.add(follower);
      if (!timer) {
        timer = setInterval(() => void check(), LOOK_MS);
        void check();
      }
      return () => {
        followers.delete(follower);
        if (!followers.size) void stop();
      };
    },
    close: async (): Promise<void> => {
      followers.clear();
      await stop();
    },
  };
};
