import Database from 'libsql';
import { onTestFinished } from 'vitest';

/** Has the database of a store refuse rows, those that meet a condition of SQL, until what is returned is called. */
export const refuseRows = (path: string, words: string, when = 'TRUE', table = 'records') => {
  const database = new Database(path);
  onTestFinished(() => void database.close());
  database.exec(`CREATE TRIGGER picky BEFORE INSERT ON ${table} WHEN ${when}
    BEGIN SELECT RAISE(ABORT, '${words.replaceAll("'", "''")}'); END`);
  return () => void database.exec('DROP TRIGGER picky');
};
