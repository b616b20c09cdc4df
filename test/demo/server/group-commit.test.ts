import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createGroupCommit } from '../../../src/relay/queue/libsql/group-commit';
import { openDatabase } from '../../../demo/server/open-database';
import { createRecordWriter } from '../../../demo/server/write-records';
import { event } from './helpers/service-client';
import { tempFolder } from '../../support/temp-folder';

function setUp() {
  const path = join(tempFolder(), 'service.db');
  const database = openDatabase(path);
  const reader = openDatabase(path);
  onTestFinished(() => {
    database.close();
    reader.close();
  });
  const { writeEvent } = createRecordWriter(database);
  const countCommitted = () =>
    (reader.prepare('SELECT count(*) AS n FROM events').all() as { n: number }[])[0]!.n;
  return { database, group: createGroupCommit(database), writeEvent, countCommitted };
}

test('answers only after the commit', async () => {
  const { group, writeEvent, countCommitted } = setUp();
  await group.run(() => writeEvent(event, null));
  expect(countCommitted()).toBe(1);
});

test('puts the writes of one turn into one transaction', async () => {
  const { group, writeEvent, countCommitted } = setUp();
  const seen = await Promise.all(
    [1, 2, 3].map(() =>
      group.run(() => {
        writeEvent(event, null);
        return countCommitted();
      }),
    ),
  );
  expect(seen).toEqual([0, 0, 0]);
  expect(countCommitted()).toBe(3);
});

test('fails a bad write alone and keeps nothing of it', async () => {
  const { group, writeEvent, countCommitted } = setUp();
  const results = await Promise.allSettled([
    group.run(() => writeEvent(event, 'a')),
    group.run(() => {
      writeEvent(event, 'b');
      throw new Error('bad');
    }),
    group.run(() => writeEvent(event, 'c')),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(results[0]).toMatchObject({ value: true });
  expect(countCommitted()).toBe(2);
});

test('commits what waits when it is flushed', async () => {
  const { group, writeEvent, countCommitted } = setUp();
  const written = group.run(() => writeEvent(event, null));
  group.flush();
  expect(countCommitted()).toBe(1);
  expect(await written).toBe(true);
});
