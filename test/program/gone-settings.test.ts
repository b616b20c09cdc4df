import { join } from 'node:path';
import Database from 'libsql';
import { expect, it } from 'vitest';
import { refuseFullQueue } from '../../src/program/gone-settings.js';
import { readSettings } from '../../src/program/settings.js';
import { tempFolder } from '../support/temp-folder.js';

it('says what takes the place of each setting that is gone', () => {
  const gone = {
    ...{ QUEUE_URL_FILE: '/x', REDIS_PREFIX: 'shop', MAX_WAITING: '1', MAX_WAITING_OF_CLIENT: '1' },
    ...{
      MAX_DEAD: '1',
      MAX_DEAD_OF_CLIENT: '1',
      ID_DAYS: '1',
      MAX_IDS: '1',
      MAX_IDS_OF_CLIENT: '1',
    },
  };
  for (const name of Object.keys(gone))
    expect(() => readSettings(gone)).toThrow(
      new RegExp(`\`${name}\`: .*\`[A-Z_]+\`|\`${name}\`: .* leave it out`),
    );
  expect(() => readSettings({ QUEUE_URL: 'redis://:secret@localhost' })).not.toThrow('secret');
  expect(() => readSettings({ QUEUE_URL: 'redis://:secret@localhost' })).toThrow('`EXPORT`');
});

it('names the folder of a queue that still holds records', async () => {
  const folder = tempFolder();
  await refuseFullQueue({ QUEUE_URL: `file:${folder}` });
  const database = new Database(join(folder, 'queue.db'));
  database.exec('CREATE TABLE records (id TEXT); CREATE TABLE dead (id TEXT)');
  await refuseFullQueue({ QUEUE_URL: `file:${folder}` });
  database.exec("INSERT INTO records VALUES ('a'), ('b'); INSERT INTO dead VALUES ('c')");
  database.close();
  await expect(refuseFullQueue({ QUEUE_URL: `file:${folder}` })).rejects.toThrow(
    `the queue in ${folder} still holds 2 records that wait and 1 that were refused: deliver them with the program before this one`,
  );
  await refuseFullQueue({ QUEUE_URL: 'redis://localhost:6379' });
});
