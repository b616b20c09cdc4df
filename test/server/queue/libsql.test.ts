import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createLibsqlQueue, createLibsqlSeen } from '../../../src/relay-libsql.js';
import { tempFolder } from '../../support/temp-folder.js';
import type { IdBounds, QueueBounds, QueuedRecord } from '../../../src/server/queue/ports.js';
import { back, idsOf, makeQueued } from './make-queued.js';
import { describeDeadLetters } from './dead-letter-contract.js';
import { describeLeft, describeLongLine, describeQueue } from './queue-contract.js';
import {
  describeSeen,
  describeSeenBounds,
  describeSeenFailures,
  type Failure,
} from './seen-contract.js';

type Bounds = QueueBounds & IdBounds;

const createWorld = <Handle extends { close(): void }>(
  create: (options: Bounds & { path: string; now: () => number }) => Handle,
) => {
  const path = join(tempFolder(), 'new', 'relay.db');
  let time = Date.now();
  const open = async (options?: Bounds): Promise<Handle> => {
    const handle = create({ ...options, path, now: () => time });
    onTestFinished(() => handle.close());
    return handle;
  };
  return { open, pass: async (ms: number) => void (time += ms), path };
};

const enterQueue = async () => createWorld(createLibsqlQueue);
describeQueue('libsql', enterQueue);
describeLongLine('libsql', enterQueue);
describeDeadLetters('libsql', enterQueue);

/** No transaction begins, as on a full disk. */
const fillDisk = (when?: Failure): void => {
  if (!when) return void vi.restoreAllMocks();
  vi.spyOn(Database.prototype, 'exec').mockImplementation(() => {
    throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
  });
};
const enterSeen = async () => ({ ...createWorld(createLibsqlSeen), fail: fillDisk });
describeSeen('libsql', enterSeen);
describeSeenBounds('libsql', enterSeen);
describeSeenFailures('libsql', enterSeen, ['before']);

/** A queue in a file of its own, which is closed when the test ends. */
const openQueue = (path = join(tempFolder(), 'relay.db'), options: QueueBounds = {}) => {
  const queue = createLibsqlQueue({ path, ...options });
  onTestFinished(() => queue.close());
  return { path, queue };
};

it.each(['deleted', 'replaced'])('takes no records when its file was %s', async (how) => {
  const { path, queue } = openQueue();
  const record = makeQueued();
  await queue.put([record]);
  rmSync(path);
  if (how === 'replaced') openQueue(path);
  await expect(queue.put([makeQueued()])).rejects.toThrow(`${path} was deleted or replaced`);
  // What was deleted can be read still, and is given out.
  if (how === 'deleted') expect(idsOf(await queue.take(10, 1_000))).toEqual([record.id]);
});

describeLeft('libsql', async ({ first, behind, failed, dead }) => {
  const path = join(tempFolder(), 'relay.db');
  const old = new Database(path);
  old.exec(VERSION_2);
  const put = old.prepare<unknown[]>(
    'INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const putOld = (seq: number, record: QueuedRecord, ...state: unknown[]) => {
    const { id, type, at } = record;
    const place = [`${type}:${id}:p`, 'me', '["me","p","a"]', type === 'identify' ? 1 : 0];
    put.run(seq, ...place, JSON.stringify(record), at, ...state);
  };
  putOld(1, first, 0, 0, 0, null);
  putOld(2, behind, null, 0, 0, null);
  putOld(3, failed, 5, 2, 3, 'a token of who is dead');
  old.exec(`INSERT INTO sizes VALUES ('waiting', 3, 3), ('waiting me', 3, 3), ('dead', 1, 1)`);
  const letter = [1, '', JSON.stringify(dead), 'expired', 5];
  old.prepare<unknown[]>('INSERT INTO dead VALUES (?, ?, ?, ?, ?)').run(...letter);
  old.close();
  const { queue } = openQueue(path, { maxWaiting: 3 });
  await expect(queue.put([makeQueued()])).rejects.toThrow('`maxWaiting`');
  return queue;
});

it('knows the ids that the build before this one has left', async () => {
  const path = join(tempFolder(), 'seen.db');
  const old = new Database(path);
  old.exec(VERSION_2_OF_SEEN);
  const result = { id: 'a', outcome: 'delivered', status: 200 } as const;
  const row = ['a', Date.now() + 60_000, 'me', JSON.stringify(result), '-'];
  old.prepare<unknown[]>('INSERT INTO seen VALUES (?, ?, ?, ?, ?)').run(...row);
  old.close();
  const seen = createLibsqlSeen({ path });
  onTestFinished(() => seen.close());
  expect(await seen.begin(['a', 'b'], 1_000)).toEqual([
    { state: 'done', result },
    { state: 'new' },
  ]);
});

it.each([
  ['the queue, newer', createLibsqlQueue, 'PRAGMA user_version = 3', '3'],
  ['the queue, older', createLibsqlQueue, 'CREATE TABLE records (id TEXT)', 'before 1'],
  ['ids, newer', createLibsqlSeen, 'PRAGMA user_version = 3', '3'],
  ['ids, older', createLibsqlSeen, 'CREATE TABLE seen (id TEXT)', 'before 1'],
])('refuses in words a file of another version: %s', (_, create, made, version) => {
  const path = join(tempFolder(), 'relay.db');
  const other = new Database(path);
  other.exec(made);
  other.close();
  expect(() => create({ path })).toThrow(
    `${path} holds data of version ${version}, and this program knows version 2`,
  );
});

it('goes on when the clock is set back by an hour while records wait', async () => {
  const { open, pass } = createWorld(createLibsqlQueue);
  const queue = await open();
  await queue.put([makeQueued()]);
  await queue.giveBack(back(await queue.take(1, 60_000), 60_000));
  await pass(-3_600_000);
  expect(await queue.take(1, 60_000)).toHaveLength(1);
});

/** Another process that holds the file, as a backup tool does. */
const lock = (path: string) => {
  const other = new Database(path);
  other.exec('BEGIN IMMEDIATE');
  onTestFinished(() => void other.close());
  return () => other.exec('ROLLBACK');
};

/** The longest time for which nothing else could run while something was done. */
const longestStall = async (work: () => Promise<unknown>): Promise<number> => {
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 1);
  await work().finally(() => clearInterval(timer));
  return Math.max(longest, performance.now() - last);
};

it('waits for a file that another process has locked without holding up the process', async () => {
  const { path, queue } = openQueue();
  const unlock = lock(path);
  const records = Array.from({ length: 20 }, () => makeQueued());
  let isPut = false;
  const stall = await longestStall(async () => {
    const puts = Promise.all(records.map((record) => queue.put([record]))).then(
      () => (isPut = true),
    );
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(isPut).toBe(false);
    unlock();
    await puts;
  });
  expect(stall).toBeLessThan(300);
  expect(idsOf(await queue.take(100, 1_000))).toEqual(records.map(({ id }) => id));
});

it('says that the file is locked when it stays so, and that the file is closed', async () => {
  const { path, queue } = openQueue();
  lock(path);
  const time = vi.spyOn(performance, 'now');
  onTestFinished(() => time.mockRestore());
  const put = queue.put([makeQueued()]);
  time.mockReturnValue(performance.now() + 10_000);
  await expect(put).rejects.toThrow(`another process has locked ${path}`);
  const last = queue.put([makeQueued()]);
  queue.close();
  await expect(last).rejects.toThrow(/closed|locked/);
});

it('calls a full disk what it is, and goes on when there is room', async () => {
  const { path, queue } = openQueue();
  fillDisk('before');
  await expect(queue.put([makeQueued()])).rejects.toThrow(`the disk is full: ${path}`);
  fillDisk();
  await queue.put([makeQueued()]);
  expect(await queue.size()).toMatchObject({ waiting: 1 });
});

// Node's recursive `mkdirSync` never returns there: `/proc` exists, and answers ENOENT for what is new in it.
it.skipIf(!existsSync('/proc'))('fails where no folder can be made', () => {
  expect(() => createLibsqlQueue({ path: '/proc/nope/deep/relay.db' })).toThrow(/ENOENT/);
});

/** As the build before this one made them, without the triggers that keep `sizes`. */
const VERSION_2 = `
  CREATE TABLE records (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, client TEXT NOT NULL,
    line TEXT NOT NULL, is_identify INTEGER NOT NULL, record TEXT NOT NULL, at INTEGER NOT NULL, due INTEGER,
    tries INTEGER NOT NULL DEFAULT 0, failed_at INTEGER NOT NULL DEFAULT 0, token TEXT);
  CREATE TABLE dead (seq INTEGER PRIMARY KEY AUTOINCREMENT, client TEXT NOT NULL, record TEXT NOT NULL,
    reason TEXT NOT NULL, died_at INTEGER NOT NULL);
  CREATE TABLE sizes (name TEXT PRIMARY KEY, kib INTEGER NOT NULL, count INTEGER NOT NULL) WITHOUT ROWID;
  PRAGMA user_version = 2;`;
const VERSION_2_OF_SEEN = `
  CREATE TABLE seen (id TEXT PRIMARY KEY, until INTEGER NOT NULL, holder TEXT NOT NULL, result TEXT,
    client TEXT NOT NULL DEFAULT '-') WITHOUT ROWID;
  CREATE TABLE ids (client TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
  INSERT INTO ids VALUES ('', 1), ('-', 1);
  PRAGMA user_version = 2;`;
