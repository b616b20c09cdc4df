import { setTimeout as sleep } from 'node:timers/promises';
import { Hono } from 'hono';
import Database from 'libsql';
import type { EventBody, IdentifyBody } from '../../src/interface/bodies.js';
import type { Profile, Row, Store } from '../../src/service.js';
import type { HeldRequests, ServiceContext, ServiceEnv } from './faults.js';

const DEFAULT_LIMIT = 1_000;
const WAIT_MS = 20_000;
/** The file is tried again this soon, so often, if the store has locked it. */
const LOCKED = { pauseMs: 20, tries: 500 };
/** The id of a record that came without a key. */
const GIVEN_BY_SERVICE = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const keyOf = ({ id }: Row): string | null => (GIVEN_BY_SERVICE.test(id) ? null : id);

const eventOf = (row: Row) => {
  const { project, channel, event, description, icon, notify, tags, user_id, timestamp } =
    row.body as EventBody;
  return {
    ...{ id: row.seq, project, channel, event, notify, tags, timestamp },
    ...{ description: description ?? null, icon: icon ?? null, user_id: user_id ?? null },
    ...{ received_at: row.received_at, idempotency_key: keyOf(row) },
  };
};
const identifyOf = (row: Row) => {
  const { project, user_id, properties } = row.body as IdentifyBody;
  const { seq: id, received_at } = row;
  return { id, project, user_id, properties, received_at, idempotency_key: keyOf(row) };
};
const profileOf = (profile: Profile, index: number) => ({ id: index + 1, ...profile });

/** Deletes all rows, or those alone whose tags or properties have a key: what the demo has made. */
export const createDeleteRows =
  (path: string) =>
  async (key?: string): Promise<void> => {
    const has = (column: string, field = '') =>
      key === undefined
        ? 'TRUE'
        : `json_type(${column}, '$${field}.' || ${literal(JSON.stringify(key))}) IS NOT NULL`;
    // All that is left is counted anew. What readers have prepared is thrown away, for it may hold what is deleted.
    const statements = `BEGIN IMMEDIATE;
      DELETE FROM records WHERE ${has('body', '.tags')} OR ${has('body', '.properties')};
      DELETE FROM profiles WHERE ${has('properties')};
      DELETE FROM row_counts;
      DELETE FROM hour_sums;
      UPDATE readers SET place = iif(name = 'sums', 0, place), number = number + 1;
      ${key === undefined ? 'DELETE FROM refused; DELETE FROM repeats;' : ''}
      COMMIT`;
    // The store may be in a transaction that goes on in this process, so waiting for the lock must not block it.
    const database = new Database(path, { timeout: 0 });
    try {
      for (let left = LOCKED.tries; ; left--) {
        try {
          database.exec(statements);
          return;
        } catch (error) {
          if ((error as { code?: unknown }).code !== 'SQLITE_BUSY' || !left) throw error;
          await sleep(LOCKED.pauseMs);
        }
      }
    } finally {
      database.close();
    }
  };
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** What is stored: rows for the demo page; lists of events, identifies and profiles for the tests. */
export function readingRoutes(
  store: Store,
  deleteRows: (key?: string) => Promise<void>,
  held: HeldRequests,
): Hono<ServiceEnv> {
  const pageOf = (c: ServiceContext) => ({
    project: c.req.query('project') || undefined,
    after: Number(c.req.query('after') || 0),
    limit: Number(c.req.query('limit') || DEFAULT_LIMIT),
  });
  const list =
    (type: Row['type'], name: string, rowOf: (row: Row) => object) => async (c: ServiceContext) => {
      const { project, ...span } = pageOf(c);
      const [rows, counts] = await Promise.all([
        store.rows({ project, type }, span),
        store.counts(),
      ]);
      const total = counts
        .filter((count) => count.type === type && (!project || count.project === project))
        .reduce((sum, count) => sum + count.rows, 0);
      return c.json({ [name]: rows.map(rowOf), total });
    };

  /** Answers as soon as there is a row behind this place, or with none after a while. */
  const showRows = async (c: ServiceContext) => {
    const { after, limit } = pageOf(c);
    const isNewest = c.req.query('after') === undefined;
    const read = () =>
      isNewest ? store.rows({}, { limit, newest: true }) : store.rows({}, { after, limit });
    let stop = (): void => {};
    const isBehind = new Promise<void>((resolve) => (stop = store.follow(resolve)));
    let rows = await read();
    if (!rows.length && c.req.query('wait')) {
      await Promise.race([isBehind, held.hold(c.env, WAIT_MS)]);
      rows = await read();
    }
    stop();
    return c.json({ rows });
  };

  return new Hono<ServiceEnv>()
    .get('/rows', showRows)
    .get('/events', list('event', 'events', eventOf))
    .get('/identifies', list('identify', 'identifies', identifyOf))
    .get('/profiles', async (c) => {
      const { project, limit } = pageOf(c);
      const profiles = await store.profiles({ project }, { limit });
      return c.json({ profiles: profiles.map(profileOf), total: profiles.length });
    })
    .delete('/records', async (c) => {
      await deleteRows(c.req.query('with'));
      return c.json({ success: true, message: 'Records deleted' });
    });
}
