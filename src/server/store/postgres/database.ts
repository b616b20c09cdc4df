import { messageOf } from '../../../util/errors.js';
import type { Database } from '../database.js';
import {
  openConnections,
  stateOf,
  type ConnectionOptions,
  type Connections,
} from './connections.js';
import { hasEnded, ownProcess } from '../process-name.js';
import { literal, postgresDialect, quoted } from './dialect.js';
import { createFollowers } from './follow.js';
import { migrate } from './tables.js';

/** What a text says that Postgres answered: the error itself, without the address in front. */
const answerOf = (error: unknown): unknown => (error as Error).cause ?? error;

/**
 * Has Postgres look at tables that were filled since it did, as by an import or from a backup. Until autovacuum comes by,
 * it would read all rows of a project or a time for each step of a look.
 */
const learn = async ({ read, write }: Connections, schema: string): Promise<void> => {
  const { table } = postgresDialect(schema);
  const isUnknown = `SELECT 1 FROM pg_class WHERE oid = to_regclass(${literal(table('records'))})
    AND relpages = 0 AND pg_relation_size(oid) > 0`;
  if (!(await read(isUnknown)).length) return;
  const tables = ['records', 'hour_sums', 'profiles'].map(table);
  await write(`ANALYZE (SKIP_LOCKED) ${tables.join(', ')}`);
};

export const openDatabase = async (
  options: ConnectionOptions,
  schema: string,
): Promise<Database> => {
  const connections = await openConnections(options);
  const { read, write, transaction } = connections;
  try {
    await migrate(connections, schema);
  } catch (error) {
    await connections.close();
    throw error;
  }
  await learn(connections, schema).catch(() => {}); // looks are slower without
  const followers = createFollowers(connections, schema);
  const change = `UPDATE ${quoted(schema)}.version SET version = version`;
  // A table of 16 MiB, which is gone with the commit.
  const room = `${quoted(schema)}.room`;
  const takeRoom = `CREATE UNLOGGED TABLE ${room} AS
    SELECT repeat('x', 1000) AS text FROM generate_series(1, 16384)`;

  return {
    ...postgresDialect(schema),
    ...{ ownProcess, hasEnded },
    ...{ read, write, transaction },
    lanes: connections.writers,
    blocks: false,
    // Postgres refuses the data, and not the connection or the statement: a wrong value, a constraint, a limit, or an
    // error of a trigger. https://www.postgresql.org/docs/current/errcodes-appendix.html
    wordsOfRefusal: (error) =>
      /^(22|23|44|54|P0)/.test(stateOf(error)) ? messageOf(answerOf(error)) : undefined,
    isLate: (error) => stateOf(error) === '57014',
    check: async ({ asksForRoom = false } = {}) => {
      if (!asksForRoom) return void (await write(change));
      await transaction(async (run) => {
        await run(takeRoom);
        await run(`DROP TABLE ${room}`);
        await run(change);
      });
    },
    room: async () => undefined,
    follow: followers.follow,
    told: followers.told,
    close: async (): Promise<void> => {
      await followers.close();
      await connections.close();
    },
  };
};
