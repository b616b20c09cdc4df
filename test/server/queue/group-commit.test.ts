import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openFile } from '../../../src/server/store/libsql/file.js';
import { tempFolder } from '../../support/temp-folder.js';

const TABLES = { version: 1, sql: 'CREATE TABLE events (name TEXT)' };

function setUp() {
  const path = join(tempFolder(), 'service.db');
  const [file, reader] = [openFile(path, TABLES), openFile(path, TABLES)];
  onTestFinished(() => reader.close());
  const insert = file.prepare('INSERT INTO events VALUES (?)');
  const write = (name = 'e') => insert.run(name).changes > 0;
  const countCommitted = () =>
    (reader.prepare('SELECT count(*) AS n FROM events').all() as { n: number }[])[0]!.n;
  return { ...file, write, countCommitted };
}

test('puts the writes of one turn into one transaction', async () => {
  const { run, write, countCommitted } = setUp();
  const seen = await Promise.all(
    [1, 2, 3].map(() =>
      run(() => {
        write();
        return countCommitted();
      }),
    ),
  );
  expect(seen).toEqual([0, 0, 0]);
  expect(countCommitted()).toBe(3);
});

test('fails a bad write alone and keeps nothing of it', async () => {
  const { run, write, countCommitted } = setUp();
  const results = await Promise.allSettled([
    run(() => write('a')),
    run(() => {
      write('b');
      throw new Error('bad');
    }),
    run(() => write('c')),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(results[0]).toMatchObject({ value: true });
  expect(countCommitted()).toBe(2);
});

test('commits what waits when the file is closed', async () => {
  const { run, write, close, countCommitted } = setUp();
  const written = run(() => write());
  close();
  expect(countCommitted()).toBe(1);
  expect(await written).toBe(true);
});
