import { callback, positive, text } from '../../../interface/kinds.js';
import { checkOptions } from '../../check-options.js';
import { createLogStore } from '../log-store.js';
import type { Store } from '../port.js';
import { openDatabase } from './database.js';

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
  const store = createLogStore(await openDatabase({ url, statementTimeout }, schema), {
    onReplaced,
  });
  await store.started.catch(() => {}); // unfinished erasures are looked for again
  return store;
};
