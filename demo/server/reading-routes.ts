import { Hono } from 'hono';
import type Database from 'libsql';
import { allowMethods } from './allow-methods';
import { answerJson, refuse, succeed } from './answer';
import type { GroupCommit } from '../../src/relay/queue/libsql/group-commit';
import { readPage } from './read-page';
import { readRecords, type Table } from './read-records';
import type { ServiceContext, ServiceEnv } from './service-context';
import type { createRecordWriter } from './write-records';

interface Parts {
  database: Database.Database;
  group: GroupCommit;
  writer: ReturnType<typeof createRecordWriter>;
}

/** What is stored, for people and tests. No token is asked for: this is a demo. */
export function readingRoutes({ database, group, writer }: Parts): Hono<ServiceEnv> {
  const list = (table: Table) => (c: ServiceContext) => {
    const page = readPage(c);
    if (!page) return refuse(c, 400);
    const { rows, total } = readRecords(database, table, page);
    return answerJson(c, 200, { [table]: rows, total });
  };

  const clear = async (c: ServiceContext) => {
    await group.run(() => writer.deleteRows(c.req.query('with')));
    return succeed(c, 'Records deleted');
  };

  return new Hono<ServiceEnv>()
    .get('/events', list('events'))
    .all('/events', allowMethods('GET'))
    .get('/profiles', list('profiles'))
    .all('/profiles', allowMethods('GET'))
    .get('/identifies', list('identifies'))
    .all('/identifies', allowMethods('GET'))
    .delete('/records', clear)
    .all('/records', allowMethods('DELETE'));
}
