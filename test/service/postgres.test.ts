import pg from 'pg';
import { afterAll, beforeAll, describe, onTestFinished } from 'vitest';
import {
  hasPostgres,
  startPostgres,
  type PostgresServer,
} from '../../lab/service/support/start-postgres.mjs';
import { createPostgresStore } from '../../src/service-postgres.js';
import { describeStore } from './store-contract.js';

describe.skipIf(!hasPostgres)('over a Postgres', () => {
  let server: PostgresServer;
  let client: pg.Client;
  let worlds = 0;

  beforeAll(async () => {
    server = await startPostgres();
    client = new pg.Client(server.url).on('error', () => {}); // it is killed on purpose
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    await server.stop();
  });

  const enter = () => {
    const schema = `world ${++worlds}`;
    return {
      schema,
      open: async (options: { onReplaced?: (records: number) => void } = {}) => {
        const store = await createPostgresStore({ ...options, url: server.url, schema });
        let isClosed = false;
        const close = async () => {
          if (!isClosed) await store.close();
          isClosed = true;
        };
        onTestFinished(close);
        return { ...store, close };
      },
      spoil: async (event: string, words: string) => {
        const quote = (text: string) => pg.escapeLiteral(text);
        await client.query(`
          CREATE FUNCTION "${schema}".picky() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION USING MESSAGE = ${quote(words)}; END $$;
          CREATE TRIGGER picky BEFORE INSERT ON "${schema}".records FOR EACH ROW
            WHEN (new.event = ${quote(event)} OR new.id = ${quote(event)})
            EXECUTE FUNCTION "${schema}".picky()`);
        return async () => {
          await client.query(`DROP TRIGGER picky ON "${schema}".records`);
        };
      },
    };
  };

  describeStore('Postgres', enter);
});
