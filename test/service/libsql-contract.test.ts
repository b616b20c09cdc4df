import { join } from 'node:path';
import Database from 'libsql';
import { onTestFinished } from 'vitest';
import { createLibsqlStore } from '../../src/service-libsql.js';
import { tempFolder } from '../support/temp-folder.js';
import { describeStore } from './store-contract.js';

describeStore('libsql', () => {
  const path = join(tempFolder(), 'service.db');
  return {
    open: async (options = {}) => {
      const store = createLibsqlStore({ ...options, path });
      onTestFinished(() => store.close());
      return store;
    },
    spoil: async (event, words) => {
      const quote = (text: string) => `'${text.replaceAll("'", "''")}'`;
      const database = new Database(path);
      database.exec(`CREATE TRIGGER picky BEFORE INSERT ON rows
        WHEN new.event = ${quote(event)} OR new.id = ${quote(event)}
        BEGIN SELECT RAISE(ABORT, ${quote(words)}); END`);
      onTestFinished(() => void database.close());
      return async () => void database.exec('DROP TRIGGER picky');
    },
  };
});
