import type pg from 'pg';
import type { Tables } from './columns.js';
import type { PostgresDatabase } from './database.js';
import { quoted } from './schema.js';

/** How often those who follow look for themselves: a notice may be lost with its connection, or to a pooler. */
const LOOK_MS = 2_000;

/** Tells those who follow that something was stored: by the notices of Postgres, and by a slow look of its own. */
export const createFollowers = (database: PostgresDatabase, tables: Tables, schema: string) => {
  const followers = new Set<() => void>();
  let listener: pg.Client | undefined;
  let timer: ReturnType<typeof setInterval> | undefined;
  let seen: string | undefined;

  const tell = (): void => followers.forEach((onRows) => onRows());

  const listen = async (): Promise<void> => {
    const client = await database.connect();
    listener = client.on('notification', tell).on('end', () => {
      if (listener === client) listener = undefined;
    });
    await client.query(`LISTEN ${quoted(schema)}`);
    if (!followers.size) await stop();
  };
  const look = async (): Promise<void> => {
    const lastOf = (table: string) => `(SELECT max(seq) FROM ${table})`;
    const [row] = await database.read<{ places: string }>({
      text: `SELECT concat_ws(' ', ${lastOf(tables.records)}, 'and', ${lastOf(tables.refused)}) AS places`,
    });
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
        tell(); // of what was stored before this connection could hear
      }
      await look();
    } catch {
      // The database is away. The writes say so, and the next look finds what was missed.
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
    follow: (onRows: () => void): (() => void) => {
      // Its own function, so that one who follows twice is two followers.
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
