import { existsSync, renameSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'libsql';
import AsyncDatabase from 'libsql/promise';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createLibsqlStore } from '../../../src/service-libsql.js';
import { tempFolder } from '../../support/temp-folder.js';
import { PROGRESS_TABLES, SPOILT_BY } from './contract/scenario.js';
import { describeStore } from './store-contract.js';
import { incomingEvent, incomingIdentify } from '../support/incoming.js';
import { OLDER_SQLITE } from '../support/older-tables.js';
import { refuseRows } from '../support/refuse-rows.js';

vi.mock('../../../src/server/store/refused-bounds.js', async (load) => ({
  ...(await load<object>()),
  ...{ MAX_REFUSED: 100, MAX_OF_TARGET: 100, MAX_DEAD_SIZE: 1_048_576 },
}));
vi.mock('node:fs/promises', async (load) => {
  const real = await load<{ statfs: typeof statfs }>();
  return { ...real, statfs: vi.fn(real.statfs) };
});
// Readers make many steps, so that others write meanwhile, and do not pause for long.
vi.mock('../../../src/server/store/pace.js', async (load) => ({
  ...(await load<object>()),
  ...{ PAUSE_MS: 3, LOOK_MS: 50, BUSY_MS: 1, FIRST_STEP: 50, MAX_STEP: 200 },
}));

const open = (path = join(tempFolder(), 'new', 'service.db'), options = {}) => {
  const store = createLibsqlStore({ ...options, path });
  onTestFinished(() => store.close());
  return { store, path };
};

describeStore('libsql', () => {
  const path = join(tempFolder(), 'service.db');
  return {
    open: async (options) => open(path, options).store,
    takeBack: async (version, isUnsummed) => {
      const database = new Database(path);
      database.exec(OLDER_SQLITE);
      if (isUnsummed) database.exec("INSERT INTO summing SELECT 0, max(seq), '' FROM records");
      if (version === 1) {
        for (const table of PROGRESS_TABLES) database.exec(`DROP TABLE ${table}`);
        database.exec(`DROP TABLE hours; DROP TABLE summing;
          ALTER TABLE records DROP COLUMN notify; ALTER TABLE records RENAME TO rows`);
      }
      database.exec(`PRAGMA user_version = ${version}`);
      database.close();
    },
    makeOlder: async (ms) => {
      const database = new Database(path);
      database.exec(`UPDATE erasures SET at = at - ${ms}`);
      database.close();
    },
    spoil: async (name, words, table = 'records') => {
      const is = SPOILT_BY[table].map(
        (column) => `new.${column} = '${name.replaceAll("'", "''")}'`,
      );
      const mend = refuseRows(path, words, is.join(' OR '), table);
      return async () => mend();
    },
  };
});

it('makes the file with its folder on first use, and finds the records again', async () => {
  const { store, path } = open();
  await store.write([incomingEvent({ id: 'a' })]);
  await store.close();
  expect(existsSync(path)).toBe(true);
  expect(await open(path).store.rows({}, { limit: 10 })).toMatchObject([{ id: 'a' }]);
});

it('fails where its file was moved away', async () => {
  const { store, path } = open();
  renameSync(path, `${path}.old`);
  await expect(store.write([incomingEvent()])).rejects.toThrow(`${path} was deleted or replaced`);
  await expect(store.check()).rejects.toThrow(`${path} was deleted or replaced`);
});

it('stores though the file was locked for a moment while it was opened', async () => {
  const locked = Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
  const exec = vi.spyOn(AsyncDatabase.prototype, 'exec').mockRejectedValueOnce(locked);
  onTestFinished(() => exec.mockRestore());
  const { store } = open();
  await new Promise((resolve) => setImmediate(resolve));
  expect(await store.write([incomingEvent()])).toEqual([{ outcome: 'stored' }]);
});

it('writes when it is asked whether it can, for a full disk takes a transaction that is empty', async () => {
  const { store, path } = open();
  const other = new Database(path);
  onTestFinished(() => void other.close());
  // Changes when another connection has written something.
  const version = () => other.pragma('data_version');
  const before = version();
  await store.check();
  expect(version()).not.toEqual(before);
});

it('has no room for rows on a disk that is full, though a small write passes', async () => {
  const { store, path } = open();
  const free = (bytes: number) =>
    vi
      .mocked(statfs)
      .mockResolvedValueOnce({ bavail: bytes / 4_096, bsize: 4_096, blocks: 1e6 } as never);
  free(15 * 1_048_576);
  await expect(store.check({ asksForRoom: true })).rejects.toThrow(`the disk is full: ${path}`);
  await store.check();
  free(16 * 1_048_576);
  await store.check({ asksForRoom: true });
});

it('erases the rows of a user together with the profile, though an identify comes meanwhile', async () => {
  const { store } = open();
  await store.write([incomingIdentify({ id: 'first' }, { properties: { a: 1 } })]);
  const late = incomingIdentify({ id: 'late' }, { properties: { b: 1 } });
  await Promise.all([store.erase({ project: 'p', user_id: 'u' }), store.write([late])]);
  const profiles = await store.profiles({}, { limit: 1 });
  expect(profiles.length).toBe((await store.rows({}, { limit: 10 })).length);
});

it('is another source for exports than the other files of its process', async () => {
  const sources = await Promise.all([open(), open()].map(({ store }) => store.progress.source()));
  expect(sources[0]!.id).not.toBe(sources[1]!.id);
});

it('goes on with an erasure that another process has begun, and that nobody has worked on for a while', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { store, path } = open();
  await store.write([incomingEvent({ id: 'a' }, { user_id: 'u' }), incomingEvent({ id: 'b' })]);
  const other = new Database(path);
  onTestFinished(() => void other.close());
  const begin = (ago: number) =>
    other.exec(`INSERT INTO erasures (place, at, project, user_id, upto, is_done)
      VALUES (3, unixepoch('subsec') * 1000 - ${ago}, 'p', 'u', 3, 0)`);
  begin(0);
  const pass = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms);
    for (let n = 0; n < 100; n++) await new Promise(setImmediate);
  };
  await pass(60_000);
  expect(await store.rows({}, { limit: 10 })).toHaveLength(2);
  await vi.waitFor(() => other.exec('DELETE FROM erasures')); // a reader may have the lock
  await vi.waitFor(() => begin(40_000));
  await pass(60_000);
  await vi.waitUntil(async () => (await store.progress.lastErasure()) === 3);
  expect(await store.rows({}, { limit: 10 })).toMatchObject([{ id: 'b' }]);
});

it('waits for a file that another process has locked, and reads and answers meanwhile', async () => {
  const { store, path } = open();
  await store.write([incomingEvent({ id: 'before' })]);
  const other = new Database(path);
  onTestFinished(() => void other.close());
  other.exec('BEGIN IMMEDIATE');
  let isWritten = false;
  const write = async (id: string) => {
    const written = await store.write([incomingEvent({ id })]);
    isWritten = true;
    return written;
  };
  const writing = Promise.all([write('a'), write('b')]);
  for (let n = 0; n < 20; n++) {
    expect(await store.rows({}, { limit: 10 })).toHaveLength(1);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(isWritten).toBe(false);
  other.exec('COMMIT');
  expect(await writing).toEqual([[{ outcome: 'stored' }], [{ outcome: 'stored' }]]);
});

it('says which file another process has locked for too long, and stores again after that', async () => {
  const { store, path } = open();
  await store.write([incomingEvent({ id: 'before' })]);
  const other = new Database(path);
  onTestFinished(() => void other.close());
  other.exec('BEGIN IMMEDIATE');
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const writing = ['a', 'b', 'c'].map((id) => store.write([incomingEvent({ id })]));
  const failed = writing.map((one) =>
    expect(one).rejects.toThrow(`another process has locked ${path}`),
  );
  const passing = setInterval(() => vi.advanceTimersByTime(1_000), 5);
  await Promise.all(failed).finally(() => clearInterval(passing));
  other.exec('COMMIT');
  expect(await store.write([incomingEvent({ id: 'a' })])).toEqual([{ outcome: 'stored' }]);
  expect(await store.refused({ limit: 10 })).toEqual([]);
});

it('keeps nothing of a write that the disk has no room for, and buries nothing for it', async () => {
  const { store, path } = open();
  const fail = () => Promise.reject(Object.assign(new Error('full'), { code: 'SQLITE_FULL' }));
  const full = (['exec', 'prepare'] as const).map((name) =>
    vi.spyOn(AsyncDatabase.prototype, name).mockImplementation(fail),
  );
  await expect(store.write([incomingEvent()])).rejects.toThrow(`the disk is full: ${path}`);
  await expect(store.check()).rejects.toThrow('the disk is full');
  for (const spy of full) spy.mockRestore();
  expect(await store.rows({}, { limit: 10 })).toEqual([]);
  expect(await store.refused({ limit: 10 })).toEqual([]);
  expect(await store.write([incomingEvent()])).toEqual([{ outcome: 'stored' }]);
});

it('stores what was given to it before it was closed', async () => {
  const { store, path } = open();
  const writing = Promise.all(['a', 'b', 'c'].map((id) => store.write([incomingEvent({ id })])));
  await store.close();
  await writing;
  expect(await open(path).store.rows({}, { limit: 10 })).toHaveLength(3);
});

it('tells those who follow of its own writes once for each turn, and no more when they stop', async () => {
  const { store } = open(':memory:');
  const told = vi.fn();
  const stop = store.follow(told);
  await Promise.all([store.write([incomingEvent()]), store.write([incomingEvent({ id: 'b' })])]);
  await new Promise(setImmediate);
  expect(told).toHaveBeenCalledTimes(1);
  stop();
  await store.write([incomingEvent({ id: 'c' })]);
  await new Promise(setImmediate);
  expect(told).toHaveBeenCalledTimes(1);
});

/** Counts the turns of the event loop that others get until the work is done. */
const turnsDuring = async (work: () => Promise<unknown>): Promise<number> => {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await work();
  isOver = true;
  return turns;
};

it('lets others have their turn between the pages of all rows', async () => {
  const { store } = open(':memory:');
  await store.write(Array.from({ length: 2_000 }, (_, n) => incomingEvent({ id: `r${n}` })));
  const turns = await turnsDuring(async () => {
    for (let after = 0; after < 2_000;)
      after = (await store.rows({}, { after, limit: 500 })).at(-1)!.seq;
  });
  expect(turns).toBeGreaterThanOrEqual(4);
});

it('looks through large rows a few at a time', async () => {
  const { store } = open(':memory:');
  const text = 'x'.repeat(50_000);
  await store.write(
    Array.from({ length: 700 }, (_, n) => incomingEvent({ id: `r${n}` }, { tags: { text } })),
  );
  for (const filter of [{}, { text: 'rare' }, { text: 'xxxx' }]) {
    const turns = await turnsDuring(() => store.rows(filter, { limit: 700 }));
    expect(turns).toBeGreaterThanOrEqual(3);
  }
});

it('looks through many rows in steps, and lets others have their turn', async () => {
  const { store } = open(':memory:');
  const names = Array.from({ length: 6_001 }, (_, n) => (n % 3_000 ? 'other' : 'rare'));
  await store.write(names.map((event, n) => incomingEvent({ id: `r${n}` }, { event })));
  const find = async (span: object) =>
    (await store.rows({ event: ['rare'] }, { limit: 10, ...span })).map(({ seq }) => seq);
  const turns = await turnsDuring(async () => {
    expect(await find({})).toEqual([1, 3_001, 6_001]);
  });
  // Steps do not grow far over small rows: the next ones may be large.
  expect(turns).toBeGreaterThanOrEqual(4);
  expect(await find({ newest: true })).toEqual([6_001, 3_001, 1]);
  expect(await find({ newest: true, limit: 2 })).toEqual([6_001, 3_001]);
  expect(await find({ after: 1, before: 6_001 })).toEqual([3_001]);
  expect(await find({ limit: 0 })).toEqual([]);
  expect(await find({ after: 20_000 })).toEqual([]);
});
