import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createLibsqlQueue } from '../../../src/relay-libsql.js';
import { tempFolder } from '../../support/temp-folder.js';
import type { IdBounds, QueueBounds } from '../../../src/server/queue/ports.js';
import { back, idsOf, makeQueued } from './make-queued.js';
import { describeDeadLetters } from './dead-letter-contract.js';
import { describeLongLine, describeQueue } from './queue-contract.js';

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
const fillDisk = (): void => {
  vi.spyOn(Database.prototype, 'exec').mockImplementation(() => {
    throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
  });
};

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

it.each([
  ['newer', 'PRAGMA user_version = 4', '4'],
  ['that of the build before', 'PRAGMA user_version = 2', '2'],
  ['older', 'CREATE TABLE records (id TEXT)', 'before 1'],
])('refuses in words a file of another version: %s', (_, made, version) => {
  const path = join(tempFolder(), 'relay.db');
  const other = new Database(path);
  other.exec(made);
  other.close();
  expect(() => createLibsqlQueue({ path })).toThrow(
    `${path} holds data of version ${version}, and this program knows version 3`,
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
  fillDisk();
  await expect(queue.put([makeQueued()])).rejects.toThrow(`the disk is full: ${path}`);
  vi.restoreAllMocks();
  await queue.put([makeQueued()]);
  expect(await queue.size()).toMatchObject({ waiting: 1 });
});

// Node's recursive `mkdirSync` never returns there: `/proc` exists, and answers ENOENT for what is new in it.
it.skipIf(!existsSync('/proc'))('fails where no folder can be made', () => {
  expect(() => createLibsqlQueue({ path: '/proc/nope/deep/relay.db' })).toThrow(/ENOENT/);
});
