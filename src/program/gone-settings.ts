import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load } from '../util/load.js';

const KNOWN =
  'a record is known for as long as its row is kept, which `RETENTION_DAYS` bounds: leave it out';
const REFUSED = '10,000 of the rows that a target refuses are kept: leave it out';
const WAITING =
  'rows wait in the database, and `RATE_LIMIT` bounds what one client sends: leave it out';

/** Settings of the version before, and what takes their place. */
const GONE: Readonly<Record<string, string>> = {
  QUEUE_URL:
    'there is no queue any more. With `SERVICE_URL` rows are kept in `DATA_FOLDER` or `DATABASE_URL`, and passed on from there. ' +
    'In front of a Postgres that may be away, keep them in a file, and name the Postgres in `EXPORT`',
  REDIS_PREFIX:
    'there is no Redis any more. Several programs share a Postgres (`DATABASE_URL`), or have a file each',
  MAX_WAITING: WAITING,
  MAX_WAITING_OF_CLIENT: WAITING,
  MAX_DEAD: REFUSED,
  MAX_DEAD_OF_CLIENT: REFUSED,
  ID_DAYS: KNOWN,
  MAX_IDS: KNOWN,
  MAX_IDS_OF_CLIENT: KNOWN,
};

/** Throws a TypeError if a setting of the version before is used. Its message says what to use instead. */
export const refuseGone = (environment: NodeJS.ProcessEnv): void => {
  const words = Object.entries(GONE).flatMap(([name, instead]) =>
    [name, `${name}_FILE`].flatMap((one) =>
      environment[one] === undefined ? [] : [`\`${one}\`: ${instead}`],
    ),
  );
  if (words.length) throw new TypeError(`settings that are gone: ${words.join('\n')}`);
};

/** Rejects if the folder of a queue of the version before still holds records. */
export const refuseFullQueue = async ({ QUEUE_URL: url }: NodeJS.ProcessEnv): Promise<void> => {
  if (!url?.startsWith('file:')) return;
  const folder = url.startsWith('file://') ? fileURLToPath(url) : url.slice('file:'.length);
  const path = join(folder, 'queue.db');
  if (!existsSync(path)) return;
  const { default: Database } = await load('libsql', () => import('libsql'));
  const database = new Database(path, { readonly: true });
  try {
    const countOf = (table: string): number =>
      (database.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n;
    const [waiting, dead] = [countOf('records'), countOf('dead')];
    if (waiting + dead > 0)
      throw new Error(
        `\`QUEUE_URL\`: the queue in ${folder} still holds ${waiting} records that wait and ${dead} that were ` +
          'refused: deliver them with the program before this one, or delete the folder',
      );
  } finally {
    database.close();
  }
};
