import { createLibsqlStore } from '../../../dist/service-libsql.js';
import { createPostgresStore } from '../../../dist/service-postgres.js';

/** The store of an address, as the program opens it. */
export const openStore = async (url) =>
  url.startsWith('file:')
    ? createLibsqlStore({ path: url.slice('file:'.length) })
    : createPostgresStore({ url });
