import type Database from 'libsql';

/** Which rows to read; every part may be left out. */
export interface Page {
  project?: string | undefined;
  user_id?: string | undefined;
  /** Only rows with a greater id. */
  after?: number | undefined;
  limit?: number | undefined;
}

export const DEFAULT_LIMIT = 1_000;

// SQLite builds the JSON: the driver cuts a text column at a NUL character, and the nested JSON
// columns need no second parse.
const ROWS = {
  events: `json_object('id', id, 'project', project, 'channel', channel, 'event', event,
    'description', description, 'icon', icon, 'notify', json(iif(notify, 'true', 'false')),
    'tags', json(tags), 'user_id', user_id, 'timestamp', timestamp, 'received_at', received_at,
    'idempotency_key', idempotency_key)`,
  identifies: `json_object('id', id, 'project', project, 'user_id', user_id,
    'properties', json(properties), 'received_at', received_at,
    'idempotency_key', idempotency_key)`,
  profiles: `json_object('id', id, 'project', project, 'user_id', user_id,
    'properties', json(properties), 'created_at', created_at, 'updated_at', updated_at)`,
};

export type Table = keyof typeof ROWS;

/** Reads one page of a table by ascending id, and how many rows there are on all pages. */
export function readRecords(database: Database.Database, table: Table, page: Page) {
  const filters = [
    ['project = ?', page.project],
    ['user_id = ?', page.user_id],
  ].filter(([, value]) => value !== undefined);
  const where = filters.map(([clause]) => clause).join(' AND ') || 'TRUE';
  const values = filters.map(([, value]) => value);
  const rows = database
    .prepare<unknown[]>(
      `SELECT ${ROWS[table]} AS json FROM ${table} WHERE ${where} AND id > ? ORDER BY id LIMIT ?`,
    )
    .all(...values, page.after ?? 0, page.limit ?? DEFAULT_LIMIT) as { json: string }[];
  const [count] = database
    .prepare<unknown[]>(`SELECT count(*) AS total FROM ${table} WHERE ${where}`)
    .all(...values) as { total: number }[];
  return { rows: rows.map(({ json }) => JSON.parse(json) as unknown), total: count?.total ?? 0 };
}
