import Database from 'libsql';
import type { Store } from '../../src/service.js';

/** Deletes all rows, or those alone whose tags or properties have a key: what a scene of the demo has made. */
export const createDeleteRows =
  (path: string, store: Store) =>
  async (key?: string): Promise<void> => {
    if (key === undefined) return store.clear();
    const database = new Database(path);
    const own = JSON.stringify(key);
    const has = (column: string) => `json_type(${column}, ?) IS NOT NULL`;
    try {
      database
        .prepare<unknown[]>(`DELETE FROM rows WHERE ${has('body')} OR ${has('body')}`)
        .run(`$.tags.${own}`, `$.properties.${own}`);
      database
        .prepare<unknown[]>(`DELETE FROM profiles WHERE ${has('properties')}`)
        .run(`$.${own}`);
    } finally {
      database.close();
    }
  };
