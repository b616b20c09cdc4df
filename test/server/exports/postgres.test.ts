import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createTarget, faultOfAddress } from '../../../src/server/exports/create-target.js';
import { createTell } from '../../../src/server/hooks.js';
import { startExports } from '../../../src/server/exports/start-exports.js';
import { verify } from '../../../src/server/exports/verify.js';
import { createLibsqlStore } from '../../../src/service-libsql.js';
import { createPostgresStore } from '../../../src/service-postgres.js';
import { startPostgres } from '../../support/start-postgres.mjs';
import { tempFolder } from '../../support/temp-folder.js';
import { incomingEvent, incomingIdentify } from '../support/incoming.js';

const open = (url: string) => createPostgresStore({ url });

it('names a Postgres without its password, and refuses an address without a database', () => {
  expect(createTarget('postgres://me:secret@db.example:5433/rows?x=secret').name).toBe(
    'db.example:5433/rows',
  );
  for (const address of ['postgres://db.example', 'postgres://', 'postgres://db.example/'])
    expect(faultOfAddress(address)).toMatch(/^must be an address like postgres:/);
});

describe('a Postgres as the target of an export', { tags: ['Postgres'] }, () => {
  it('has each row once, its profiles and its erasures, though it was away for a while', async () => {
    const postgres = await startPostgres();
    onTestFinished(() => postgres.stop());
    const store = createLibsqlStore({ path: join(tempFolder(), 'rows.db') });
    const errors: string[] = [];
    const stop = startExports({
      store,
      targets: [createTarget(postgres.url, open)],
      tell: createTell({ onError: ({ message }) => void errors.push(message) }),
    });
    onTestFinished(async () => {
      await stop();
      await store.close();
    });
    await store.write([incomingEvent({ id: 'before' }), incomingIdentify({ id: 'i' })]);
    const there = await open(postgres.url);
    onTestFinished(() => there.close());
    const ids = async () => (await there.rows({}, { limit: 1_000 })).map(({ id }) => id);
    await vi.waitFor(async () => expect(await ids()).toEqual(['before', 'i']));
    await postgres.kill();
    await store.write(
      Array.from({ length: 50 }, (_, n) =>
        incomingEvent({ id: `e${n}` }, { user_id: n % 2 ? 'gone' : 'stays' }),
      ),
    );
    await vi.waitFor(() => expect(errors).toHaveLength(1));
    expect(errors[0]).not.toContain('secret');
    await postgres.restart();
    await vi.waitFor(async () => expect(await ids()).toHaveLength(52));
    expect(new Set(await ids())).toHaveLength(52);
    await vi.waitFor(async () => expect(await there.profiles({}, { limit: 9 })).toHaveLength(1));
    const target = createTarget(postgres.url, open);
    onTestFinished(() => target.close?.());
    await expect(verify({ store, target })).rejects.toThrow('takes each row once by its id');
    const erasure = { ...{ place: 60, upto: 60 }, project: 'p', user_id: 'gone' };
    await target.erase({ id: randomUUID(), since: 0, former: [] }, [erasure]);
    expect(await there.rows({ user_id: 'gone' }, { limit: 9 })).toEqual([]);
  });
});
