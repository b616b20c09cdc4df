export { createLibsqlStore } from './service/store/libsql/store.js';
export type { LibsqlStoreOptions } from './service/store/libsql/store.js';
export type { Store } from './service/store/port.js';
