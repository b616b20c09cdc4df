import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createLibsqlQueue, createLibsqlSeen } from '../../../src/relay-libsql.js';
import { tempFolder } from '../../support/temp-folder.js';
import { idsOf, makeQueued } from './make-queued.js';
import { describeDeadLetters } from './dead-letter-contract.js';
import { describeQueue } from './queue-contract.js';
import { describeSeen } from './seen-contract.js';

const createWorld = <Handle extends { close(): void }>(
  create: (options: { path: string; now: () => number; maxWaiting?: number }) => Handle,
) => {
  const path = join(tempFolder(), 'new', 'relay.db');
  let time = 1_000_000;
  const open = async (options?: { maxWaiting?: number }): Promise<Handle> => {
    const handle = create({ ...options, path, now: () => time });
    onTestFinished(() => handle.close());
    return handle;
  };
  return { open, pass: async (ms: number) => void (time += ms), path };
};

describeQueue('libsql', async () => {
  const world = createWorld(createLibsqlQueue);
  const deadLetters = async () =>
    (await (await world.open()).deadLetters.list()).map(({ record, reason }) => ({
      record,
      reason,
    }));
  return { ...world, deadLetters };
});

describeDeadLetters('libsql', () => {
  const folder = tempFolder();
  const closing = <Handle extends { close(): void }>(handle: Handle): Handle => {
    onTestFinished(() => handle.close());
    return handle;
  };
  return {
    open: async (options) =>
      closing(createLibsqlQueue({ ...options, path: join(folder, 'queue.db') })),
    openSeen: async () => closing(createLibsqlSeen({ path: join(folder, 'seen.db') })),
    now: Date.now,
  };
});

describeSeen('libsql', async () => createWorld(createLibsqlSeen));

it('has the records again after the file was closed', async () => {
  const path = join(tempFolder(), 'relay.db');
  const record = makeQueued('a');
  const before = createLibsqlQueue({ path });
  await before.put([record]);
  before.close();
  const after = createLibsqlQueue({ path });
  onTestFinished(() => after.close());
  expect(idsOf(await after.take(1, 1_000))).toEqual([record.id]);
});

it('takes no records when somebody has deleted its file, and gives out what it has', async () => {
  const path = join(tempFolder(), 'relay.db');
  const queue = createLibsqlQueue({ path });
  onTestFinished(() => queue.close());
  const record = makeQueued();
  await queue.put([record]);
  rmSync(path);
  await expect(queue.put([makeQueued()])).rejects.toThrow(`${path} was deleted or replaced`);
  expect(idsOf(await queue.take(10, 1_000))).toEqual([record.id]);
});

it('takes no records when somebody has put another file in the place of its own', async () => {
  const path = join(tempFolder(), 'relay.db');
  const queue = createLibsqlQueue({ path });
  onTestFinished(() => queue.close());
  rmSync(path);
  const other = createLibsqlQueue({ path });
  onTestFinished(() => other.close());
  await expect(queue.put([makeQueued()])).rejects.toThrow(`${path} was deleted or replaced`);
  const record = makeQueued();
  await other.put([record]);
  expect(idsOf(await other.take(10, 1_000))).toEqual([record.id]);
});

it('forgets ids when their time is over', async () => {
  const path = join(tempFolder(), 'relay.db');
  let time = 0;
  const seen = createLibsqlSeen({ path, maxAge: 1_000, now: () => time });
  onTestFinished(() => seen.close());
  await seen.begin(['a'], 100);
  await seen.finish([{ id: 'a', outcome: 'delivered', status: 200 }]);
  time = 1_001;
  expect(await seen.begin(['a'], 100)).toEqual([{ state: 'new' }]);
});

it('counts what stood in the file before there was a count', async () => {
  const path = join(tempFolder(), 'relay.db');
  const before = createLibsqlQueue({ path });
  await before.put([makeQueued(), makeQueued()]);
  before.close();
  const database = new Database(path);
  for (const what of [
    'TRIGGER records_put',
    'TRIGGER records_gone',
    'TRIGGER records_weighed',
    'TRIGGER records_unweighed',
    'TABLE waiting',
    'TABLE weight',
  ]) {
    database.exec(`DROP ${what}`);
  }
  database.close();
  const after = createLibsqlQueue({ path, maxWaiting: 3 });
  onTestFinished(() => after.close());
  expect(await after.size()).toMatchObject({ waiting: 2 });
  await after.put([makeQueued()]);
  await expect(after.put([makeQueued()])).rejects.toThrow('`maxWaiting`');
});

it('looks past the backlog of a user who must wait, however long it is', async () => {
  const fastestTake = async (backlog: number): Promise<number> => {
    const queue = createLibsqlQueue({ path: join(tempFolder(), 'relay.db') });
    onTestFinished(() => queue.close());
    await queue.put(Array.from({ length: backlog }, () => makeQueued('a')));
    await queue.retry(await queue.take(1, 60_000), 60_000);
    const times: number[] = [];
    for (let i = 0; i < 30; i++) {
      const started = performance.now();
      expect(await queue.take(64, 60_000)).toEqual([]);
      times.push(performance.now() - started);
    }
    return Math.min(...times);
  };
  // Scanned anew it takes a hundred times as long.
  expect(await fastestTake(50_000)).toBeLessThan(10 * (await fastestTake(10)));
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
  const path = join(tempFolder(), 'relay.db');
  const queue = createLibsqlQueue({ path });
  onTestFinished(() => queue.close());
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
  const path = join(tempFolder(), 'relay.db');
  const queue = createLibsqlQueue({ path });
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
  const path = join(tempFolder(), 'relay.db');
  const queue = createLibsqlQueue({ path });
  onTestFinished(() => queue.close());
  const large = () => ({ ...makeQueued(), body: { project: 'p', tags: 'x'.repeat(100_000) } });
  const limit = vi.spyOn(Database.prototype, 'exec');
  onTestFinished(() => limit.mockRestore());
  limit.mockImplementationOnce(() => {
    throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
  });
  await expect(queue.put([large()])).rejects.toThrow(`the disk is full: ${path}`);
  await queue.put([large()]);
  expect(await queue.size()).toMatchObject({ waiting: 1 });
});

// Node's recursive `mkdirSync` never returns there: `/proc` exists, and answers ENOENT for what is new in it.
it.skipIf(!existsSync('/proc'))('fails where no folder can be made', () => {
  expect(() => createLibsqlQueue({ path: '/proc/nope/deep/relay.db' })).toThrow(/ENOENT/);
});
