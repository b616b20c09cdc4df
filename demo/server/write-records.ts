import type Database from 'libsql';
import type { EventBody, IdentifyBody } from './records';

/** Where the rows of each table have what their senders have put into them. */
const MARKED = { events: 'tags', identifies: 'properties', profiles: 'properties' };

/** Set when the request had an `Idempotency-Key`. */
export type IdempotencyKey = string | null;

/**
 * The writes, to be run inside a transaction. Each says whether it stored something: it does not
 * when the key was seen before.
 */
export function createRecordWriter(database: Database.Database) {
  const insertEvent = database.prepare<unknown[]>(`
    INSERT INTO events (project, channel, event, description, icon, notify, tags, user_id,
      timestamp, received_at, idempotency_key)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`);
  const insertIdentify = database.prepare<unknown[]>(`
    INSERT INTO identifies (project, user_id, properties, received_at, idempotency_key)
    VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`);
  const selectProfile = database.prepare<unknown[]>(
    'SELECT properties FROM profiles WHERE project = ? AND user_id = ?',
  );
  const upsertProfile = database.prepare<unknown[]>(`
    INSERT INTO profiles (project, user_id, properties, created_at, updated_at)
    VALUES (?, ?, ?, ?, ?) ON CONFLICT (project, user_id)
    DO UPDATE SET properties = excluded.properties, updated_at = excluded.updated_at`);

  function writeEvent(body: EventBody, key: IdempotencyKey): boolean {
    const now = new Date().toISOString();
    const { changes } = insertEvent.run(
      body.project,
      body.channel,
      body.event,
      body.description ?? null,
      body.icon ?? null,
      body.notify ? 1 : 0,
      JSON.stringify(body.tags ?? {}),
      body.user_id ?? null,
      body.timestamp ?? now,
      now,
      key,
    );
    return changes > 0;
  }

  /**
   * Keeps the call in the history and merges its properties into the profile, one level deep: a new
   * value replaces the stored one whole, a key not named stays, and `null` is a value, not a removal.
   * The interface leaves this open; merging lets each page send only what it knows.
   */
  function writeIdentify(body: IdentifyBody, key: IdempotencyKey): boolean {
    const now = new Date().toISOString();
    const { project, user_id, properties } = body;
    const { changes } = insertIdentify.run(project, user_id, JSON.stringify(properties), now, key);
    if (changes === 0) return false;
    const [stored] = selectProfile.all(project, user_id) as { properties: string }[];
    // Spread, not Object.assign: a key named `__proto__` stays an ordinary key.
    const merged = { ...(stored && JSON.parse(stored.properties)), ...properties };
    upsertProfile.run(project, user_id, JSON.stringify(merged), now, now);
    return true;
  }

  /** Deletes all rows, or those alone whose tags or properties have this key. */
  function deleteRows(key?: string): void {
    for (const [table, column] of Object.entries(MARKED)) {
      if (key === undefined) database.exec(`DELETE FROM ${table}`);
      else
        database
          .prepare<unknown[]>(`DELETE FROM ${table} WHERE json_type(${column}, ?) IS NOT NULL`)
          .run(`$.${JSON.stringify(key)}`);
    }
  }

  return { writeEvent, writeIdentify, deleteRows };
}
