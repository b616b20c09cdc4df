import { callback, positive, text } from '../../../interface/kinds.js';
import { checkOptions } from '../../check-options.js';
import type { Incoming } from '../../incoming.js';
import { arrivedOf, lettersOf, refusedProfileOf, resentOf } from '../dead-letter.js';
import { createErasures } from '../erasures.js';
import { createGroups } from '../groups.js';
import { startSumming } from '../hours.js';
import type { Count, Held, NewRefused, Profile, Store, Written } from '../port.js';
import { createProgress, type PlainStatement, type ProgressDatabase } from '../progress.js';
import { hasEnded, ownProcess } from '../process-name.js';
import { storable, tellReplaced } from '../storable.js';
import { createRecordWriter } from '../write-records.js';
import { isoOut, tableOf, tablesOf } from './columns.js';
import { openDatabase } from './database.js';
import { createEraser } from './erase.js';
import { createFollowers } from './follow.js';
import { createHours } from './hours.js';
import { createProfiles } from './profiles.js';
import { createRefused } from './refused.js';
import { createRemovers } from './remove.js';
import { createRowReader } from './rows.js';
import { migrate, quoted } from './schema.js';
import { createRowWriter, isLate, wordsOfRefusal } from './write-rows.js';

export interface PostgresStoreOptions {
  /** Of `createPostgresStore`: `postgres://user:password@host:5432/database`. Postgres 14 or later, with UTF8. */
  url: string;
  /** Of `createPostgresStore`: the schema of the tables, which is made if it is not there. @default 'analytics_outbox' */
  schema?: string | undefined;
  /** Of `createPostgresStore`: milliseconds after which a statement is given up; half of them for a lock. @default 10000 */
  statementTimeout?: number | undefined;
  /** Called with the number of records in which NUL or half a character was replaced by U+FFFD. */
  onReplaced?: ((records: number) => void) | undefined;
}

/**
 * A store in a Postgres database, which many processes may share. The tables are made by the first of them. Needs the
 * package `pg`.
 */
export const createPostgresStore = async (options: PostgresStoreOptions): Promise<Store> => {
  checkOptions('createPostgresStore', options, {
    kinds: { url: text, schema: text, statementTimeout: positive, onReplaced: callback },
    required: ['url'],
  });
  const { url, schema = 'analytics_outbox', statementTimeout = 10_000, onReplaced } = options;
  const database = await openDatabase({ url, statementTimeout });
  const tables = tablesOf(schema);
  const hours = createHours(database, tables, schema);
  let isWhole: boolean;
  try {
    await migrate(database, schema);
    isWhole = await hours.isWhole();
  } catch (error) {
    await database.close();
    throw error;
  }
  const endSumming = isWhole ? async () => {} : startSumming(hours.sumPiece);
  const rowWriter = createRowWriter(database, tables, schema);
  const refused = createRefused(database, tables, schema);
  const profiles = createProfiles(database, tables, schema);
  const followers = createFollowers(database, tables, schema);
  const writeAll = createRecordWriter({ store: rowWriter.store, wordsOfRefusal });
  const writes = createGroups<Incoming, Written>({
    ...{ run: writeAll, lanes: database.writers, isLate },
  });
  /** An identify may take long, if its profile is large. */
  const write = (records: readonly Incoming[]): Promise<Written[]> =>
    writes.add(records, {
      sender: records[0]?.client,
      isHeavy: records.some(({ type }) => type === 'identify'),
    });

  const progressDatabase: ProgressDatabase = {
    ...{ ownProcess, hasEnded },
    table: (name) => tableOf(schema, name),
    now: `CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)`,
    each: (parameter, name = 'each') =>
      `json_array_elements(CAST(${parameter} AS json)) AS ${name}(value)`,
    iso: isoOut,
    read: (text: string, ...values: unknown[]) => database.read({ text, values }),
    transaction: (work) =>
      database.atomic((query) =>
        work(async <Row>(...[text, ...values]: PlainStatement) => {
          const { rows } = await query({ text, values });
          return rows as Row[];
        }),
      ),
    run: async <Row>(...statements: readonly PlainStatement[]) => {
      let rows: Row[] = [];
      for (const [text, ...values] of statements)
        rows = await database.write<Row>({ text, values });
      return rows;
    },
  };
  const progress = createProgress(progressDatabase);
  const lastPlace = async (): Promise<number> => {
    const [row] = await database.read<{ place: number }>({
      text: `SELECT CASE WHEN is_called THEN last_value::float8 ELSE 0 END AS place
        FROM ${quoted(schema)}.records_seq_seq`,
    });
    return row!.place;
  };
  const { remove, removeRefused, ...expiring } = createRemovers(
    ...([database, tables, schema, hours.clean] as const),
  );
  const erasures = createErasures({
    ...progressDatabase,
    ...createEraser(database, tables, schema, progressDatabase.now),
    ...{ remove, removeRefused, lastPlace, done: followers.told },
  });
  await erasures.started().catch(() => {}); // they are looked for again

  /** Stores the rows that are new, and returns how many they are, and those that the database refuses. */
  const adoptRows = async ({ rows = [], mergesIdentifies = false }: Held) => {
    let added = 0;
    const write = createRecordWriter({
      wordsOfRefusal,
      store: async (records) => {
        added += await rowWriter.adopt(records, mergesIdentifies);
        return { known: new Set() };
      },
    });
    const records = rows.map((row) => storable(arrivedOf(row)));
    const letters = lettersOf(records, await write(records));
    return { added, letters };
  };
  /** Halves the profiles until one that the database refuses is alone, and returns these. */
  const adoptProfiles = async (all: readonly Profile[]): Promise<NewRefused[]> => {
    if (!all.length) return [];
    try {
      await profiles.adopt(all);
      return [];
    } catch (error) {
      const message = wordsOfRefusal(error);
      if (message === undefined) throw error;
      if (all.length === 1) return [refusedProfileOf(all[0]!, message)];
      const half = Math.ceil(all.length / 2);
      const broken = await adoptProfiles(all.slice(0, half));
      return [...broken, ...(await adoptProfiles(all.slice(half)))];
    }
  };

  const refuse = async (given: readonly NewRefused[]): Promise<void> => {
    if (!given.length) return;
    await refused.refuse(given);
    followers.told();
  };

  return {
    write: async (records) => {
      if (!records.length) return [];
      const clean = records.map(storable);
      const written = await write(clean);
      if (written.some(({ outcome }) => outcome === 'stored')) followers.told();
      tellReplaced(records, clean, onReplaced);
      await refuse(lettersOf(clean, written));
      return written;
    },
    check: async ({ asksForRoom = false } = {}) => {
      const change = `UPDATE ${quoted(schema)}.version SET version = version`;
      // A table of 16 MiB, which is gone with the commit.
      const takeRoom = `CREATE UNLOGGED TABLE ${quoted(schema)}.room AS
        SELECT repeat('x', 1000) AS text FROM generate_series(1, 16384);
        DROP TABLE ${quoted(schema)}.room`;
      await database.write({ text: asksForRoom ? `${takeRoom}; ${change}` : change });
    },
    refuse,
    rows: createRowReader(database, tables),
    lastPlace,
    refused: refused.read,
    resend: async (seqs) => {
      const letters = await refused.dead(seqs);
      if (!letters.length) return [];
      const written = await write(letters.map(({ record }) => record));
      const resent = letters.map(({ seq }, index) => resentOf(seq, written[index]!));
      for (const one of resent)
        if (one.outcome === 'dead') await refused.rename(one.seq, one.message);
      await refused.remove(
        resent.filter(({ outcome }) => outcome !== 'dead').map(({ seq }) => seq),
      );
      followers.told();
      return resent;
    },
    purge: refused.purge,
    dead: refused.dead,
    profiles: profiles.read,
    counts: () =>
      database.read<Count>({
        text: `SELECT project, type, rows::float8 FROM ${tables.counts} WHERE rows > 0
          ORDER BY project, type`,
      }),
    hours: hours.read,
    countRefused: refused.count,
    erase: erasures.erase,
    countErased: erasures.countErased,
    ...expiring,
    adopt: async (held) => {
      const broken = await adoptProfiles(held.profiles ?? []);
      const { added, letters } = await adoptRows(held);
      const all = [...broken, ...letters, ...(held.refused ?? [])];
      const adopted = { rows: added, refused: all.length ? await refused.adopt(all) : 0 };
      if (adopted.rows || adopted.refused) followers.told();
      return adopted;
    },
    follow: followers.follow,
    progress,
    close: async () => {
      await followers.close();
      await Promise.all([erasures.end(), endSumming()]);
      await writes.whenIdle();
      await refused.whenIdle();
      await database.close();
    },
  };
};
