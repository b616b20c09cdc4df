/** Writes rows into the tables of a store as fast as one process can: one statement and one commit for each batch. */
import Database from 'libsql';
import pg from 'pg';
import { createLibsqlStore } from '../../dist/service-libsql.js';
import { createPostgresStore } from '../../dist/service-postgres.js';
import { nextRecord } from './next-record.mjs';

const { DATABASE_URL: url, SECONDS, BATCH } = process.env;
const COLUMNS =
  'project, type, id, channel, event, user_id, body, called_at, received_at, arrivals, client';
const nextRows = () =>
  Array.from({ length: Number(BATCH) }, () => {
    const { id, type, body } = nextRecord();
    const { project, channel, event, user_id, timestamp } = body;
    const text = JSON.stringify({ notify: false, ...body });
    return [project, type, id, channel, event, user_id, text, timestamp, timestamp, 1, 'client'];
  });

const openFile = async () => {
  const path = url.slice('file:'.length);
  await createLibsqlStore({ path }).close();
  const database = new Database(path);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  const marks = `(${COLUMNS.replace(/\w+/g, '?')})`;
  const insert = database.prepare(
    `INSERT INTO records (${COLUMNS}) VALUES ${Array(Number(BATCH)).fill(marks).join(', ')} ON CONFLICT DO NOTHING`,
  );
  return async (rows) => {
    database.exec('BEGIN IMMEDIATE');
    insert.run(rows.flat());
    database.exec('COMMIT');
  };
};
const openPostgres = async () => {
  const schema = 'straight';
  await (await createPostgresStore({ url, schema })).close();
  const client = new pg.Client(url);
  await client.connect();
  const types = [
    'text',
    'text',
    'text',
    'text',
    'text',
    'text',
    'json',
    'timestamptz',
    'timestamptz',
    'integer',
    'text',
  ];
  const arrays = types.map((type, index) => `$${index + 1}::${type}[]`).join(', ');
  const text = `INSERT INTO ${schema}.records (${COLUMNS}) SELECT * FROM unnest(${arrays}) ON CONFLICT DO NOTHING`;
  return (rows) => {
    const values = types.map((_, column) => rows.map((row) => row[column]));
    return client.query({ name: 'insert', text, values });
  };
};

const write = await (url.startsWith('file:') ? openFile() : openPostgres());
for (let n = 0; n < 20; n++) await write(nextRows());
const [startedAt, before] = [performance.now(), process.cpuUsage()];
let records = 0;
let seconds = 0;
while (seconds < Number(SECONDS)) {
  await write(nextRows());
  records += Number(BATCH);
  seconds = (performance.now() - startedAt) / 1_000;
}
const { user, system } = process.cpuUsage(before);
console.log(JSON.stringify({ perSecond: records / seconds, cpu: (user + system) / records }));
process.exit();
