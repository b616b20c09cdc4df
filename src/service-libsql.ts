export { createLibsqlStore } from './server/store/libsql/store.js';
export type { LibsqlStoreOptions } from './server/store/libsql/store.js';
export type { Store } from './server/store/port.js';
