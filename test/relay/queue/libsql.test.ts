import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createLibsqlQueue, createLibsqlSeen } from '../../../src/relay-libsql.js';
import { tempFolder } from '../../support/temp-folder.js';
import type { IdBounds, QueueBounds } from '../../../src/relay/queue/ports.js';
import { back, idsOf, makeIdentify, makeQueued } from './make-queued.js';
import { describeDeadLetters } from './dead-letter-contract.js';
import { describeQueue } from './queue-contract.js';
import { describeSeen, describeSeenBounds } from './seen-contract.js';

type Bounds = QueueBounds & IdBounds;

const createWorld = <Handle extends { close(): void }>(
  create: (options: Bounds & { path: string; now: () => number }) => Handle,
) => {
  const path = join(tempFolder(), 'new', 'relay.db');
  let time = 1_000_000;
  const open = async (options?: Bounds): Promise<Handle> => {
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
describeSeenBounds('libsql', async () => createWorld(createLibsqlSeen));

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

it('delivers what the build before this one has left, in its order, and has its dead letters', async () => {
  const path = join(tempFolder(), 'relay.db');
  const old = new Database(path);
  old.exec(OLD_QUEUE);
  const put = old.prepare<unknown[]>(
    'INSERT INTO records (id, lane, record, attempts, token) VALUES (?, ?, ?, ?, ?)',
  );
  const [first, behind, second, failed] = [
    ...[makeIdentify('a'), makeQueued('a'), makeIdentify('a'), makeQueued('b')],
  ];
  for (const record of [first, behind, second])
    put.run(record!.id, 'lane a', JSON.stringify(record), 0, null);
  put.run(failed!.id, 'lane b', JSON.stringify(failed), 2, 'token');
  const dead = makeQueued();
  old
    .prepare<unknown[]>('INSERT INTO dead (record, reason, died_at) VALUES (?, ?, ?)')
    .run(JSON.stringify(dead), 'expired', 5);
  old.close();
  const queue = createLibsqlQueue({ path, maxWaiting: 4 });
  onTestFinished(() => queue.close());
  expect(await queue.size()).toEqual({ waiting: 4, dead: 1, oldest: 1_000 });
  await expect(queue.put([makeQueued()])).rejects.toThrow('`maxWaiting`');
  const taken = await queue.take(10, 1_000);
  expect(idsOf(taken)).toEqual([first!.id, failed!.id]);
  expect(taken.map(({ attempts }) => attempts)).toEqual([1, 2]);
  await queue.done(taken);
  const next = await queue.take(10, 1_000);
  expect(idsOf(next)).toEqual([behind!.id, second!.id]);
  await queue.done(next);
  expect(await queue.deadLetters.list()).toMatchObject([{ record: dead, diedAt: 5 }]);
  expect(await queue.deadLetters.resend(['1'])).toBe(1);
  expect(await queue.size()).toMatchObject({ waiting: 1, dead: 0 });
});

it('knows the ids that the build before this one has left', async () => {
  const path = join(tempFolder(), 'seen.db');
  const old = new Database(path);
  old.exec(OLD_SEEN);
  const result = { id: 'a', outcome: 'delivered', status: 200 } as const;
  old
    .prepare<unknown[]>('INSERT INTO seen VALUES (?, ?, ?, ?)')
    .run('a', Date.now() + 60_000, 'me', JSON.stringify(result));
  old.close();
  const seen = createLibsqlSeen({ path });
  onTestFinished(() => seen.close());
  expect(await seen.begin(['a', 'b'], 1_000)).toEqual([
    { state: 'done', result },
    { state: 'new' },
  ]);
});

it.each([
  ['queue', createLibsqlQueue],
  ['ids', createLibsqlSeen],
])('refuses in words a file of %s that a newer program has written', (_, create) => {
  const path = join(tempFolder(), 'relay.db');
  create({ path }).close();
  const newer = new Database(path);
  newer.exec('PRAGMA user_version = 3');
  newer.close();
  expect(() => create({ path })).toThrow(
    `${path} is of version 3, and this program knows version 2`,
  );
});

it('goes on when the clock is set back by an hour while records wait', async () => {
  const path = join(tempFolder(), 'relay.db');
  let time = 10_000_000;
  const queue = createLibsqlQueue({ path, now: () => time });
  onTestFinished(() => queue.close());
  await queue.put([makeQueued()]);
  await queue.giveBack(back(await queue.take(1, 60_000), 60_000));
  time -= 3_600_000;
  expect(await queue.take(1, 60_000)).toHaveLength(1);
});

it('looks past the backlog of a user who must wait, however long it is', async () => {
  const fastestTake = async (backlog: number): Promise<number> => {
    const queue = createLibsqlQueue({ path: join(tempFolder(), 'relay.db') });
    onTestFinished(() => queue.close());
    await queue.put([makeIdentify('a'), ...Array.from({ length: backlog }, () => makeQueued('a'))]);
    await queue.giveBack(back(await queue.take(1, 60_000), 60_000));
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

/** The tables of version 1. */
const OLD_QUEUE = `
  CREATE TABLE IF NOT EXISTS records (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    lane TEXT NOT NULL,
    record TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    token TEXT
  );
  CREATE INDEX IF NOT EXISTS records_of_lane ON records (lane, seq);
  CREATE INDEX IF NOT EXISTS records_out ON records (lane, token) WHERE token IS NOT NULL;
  CREATE TABLE IF NOT EXISTS lanes (
    lane TEXT PRIMARY KEY,
    head INTEGER NOT NULL,
    until INTEGER NOT NULL DEFAULT 0,
    due INTEGER NOT NULL DEFAULT 0,
    token TEXT
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS lanes_by_head ON lanes (until, head);
  CREATE TABLE IF NOT EXISTS waiting (count INTEGER NOT NULL);
  INSERT INTO waiting
    SELECT (SELECT count(*) FROM records) WHERE NOT EXISTS (SELECT 1 FROM waiting);
  CREATE TABLE IF NOT EXISTS weight (sum INTEGER NOT NULL);
  INSERT INTO weight SELECT (SELECT coalesce(sum(((length(CAST(record AS BLOB)) + 1023) / 1024)), 0) FROM records)
    WHERE NOT EXISTS (SELECT 1 FROM weight);
  CREATE TRIGGER IF NOT EXISTS records_weighed AFTER INSERT ON records BEGIN
    UPDATE weight SET sum = sum + ((length(CAST(new.record AS BLOB)) + 1023) / 1024);
  END;
  CREATE TRIGGER IF NOT EXISTS records_unweighed AFTER DELETE ON records BEGIN
    UPDATE weight SET sum = sum - ((length(CAST(old.record AS BLOB)) + 1023) / 1024);
  END;
  CREATE TRIGGER IF NOT EXISTS records_put AFTER INSERT ON records BEGIN
    UPDATE waiting SET count = count + 1;
    INSERT INTO lanes (lane, head) VALUES (new.lane, new.seq) ON CONFLICT DO NOTHING;
  END;
  CREATE TRIGGER IF NOT EXISTS records_gone AFTER DELETE ON records BEGIN
    UPDATE waiting SET count = count - 1;
    DELETE FROM lanes WHERE lane = old.lane
      AND NOT EXISTS (SELECT 1 FROM records WHERE records.lane = old.lane);
    UPDATE lanes SET head = (SELECT min(seq) FROM records WHERE records.lane = old.lane)
      WHERE lane = old.lane AND head = old.seq;
  END;
  CREATE TABLE IF NOT EXISTS dead (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    record TEXT NOT NULL,
    reason TEXT NOT NULL,
    died_at INTEGER NOT NULL
  );
`;
const OLD_SEEN = `
  CREATE TABLE seen (
    id TEXT PRIMARY KEY,
    until INTEGER NOT NULL,
    holder TEXT NOT NULL,
    result TEXT
  ) WITHOUT ROWID;
  CREATE INDEX seen_until ON seen (until);
`;
