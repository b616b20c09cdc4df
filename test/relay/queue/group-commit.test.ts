import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createGroupCommit, openDatabase } from '../../../src/relay/queue/libsql/file.js';
import { tempFolder } from '../../support/temp-folder.js';

const SCHEMA = 'CREATE TABLE IF NOT EXISTS events (name TEXT)';

function setUp() {
  const path = join(tempFolder(), 'service.db');
  const database = openDatabase(path, SCHEMA);
  const reader = openDatabase(path, SCHEMA);
  onTestFinished(() => {
    database.close();
    reader.close();
  });
  const insert = database.prepare<unknown[]>('INSERT INTO events VALUES (?)');
  const write = (name = 'e') => insert.run(name).changes > 0;
  const countCommitted = () =>
    (reader.prepare('SELECT count(*) AS n FROM events').all() as { n: number }[])[0]!.n;
  return { database, group: createGroupCommit(database), write, countCommitted };
}

test('answers only after the commit', async () => {
  const { group, write, countCommitted } = setUp();
  await group.run(() => write());
  expect(countCommitted()).toBe(1);
});

test('puts the writes of one turn into one transaction', async () => {
  const { group, write, countCommitted } = setUp();
  const seen = await Promise.all(
    [1, 2, 3].map(() =>
      group.run(() => {
        write();
        return countCommitted();
      }),
    ),
  );
  expect(seen).toEqual([0, 0, 0]);
  expect(countCommitted()).toBe(3);
});

test('fails a bad write alone and keeps nothing of it', async () => {
  const { group, write, countCommitted } = setUp();
  const results = await Promise.allSettled([
    group.run(() => write('a')),
    group.run(() => {
      write('b');
      throw new Error('bad');
    }),
    group.run(() => write('c')),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(results[0]).toMatchObject({ value: true });
  expect(countCommitted()).toBe(2);
});

test('commits what waits when it is flushed', async () => {
  const { group, write, countCommitted } = setUp();
  const written = group.run(() => write());
  group.flush();
  expect(countCommitted()).toBe(1);
  expect(await written).toBe(true);
});
