export { createPostgresStore } from './service/store/postgres/store.js';
export type { PostgresStoreOptions } from './service/store/postgres/store.js';
export type { Store } from './service/store/port.js';
