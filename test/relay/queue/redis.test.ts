import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { hasRedis, startRedis, type RedisServer } from '../../support/start-redis.mjs';
import { createRedisQueue, createRedisSeen } from '../../../src/relay-redis.js';
import type { IdBounds, QueuedRecord } from '../../../src/relay/queue/ports.js';
import type { DeadLetter } from './memory-queue.js';
import { back, idsOf, makeIdentify, makeQueued } from './make-queued.js';
import { describeDeadLetters } from './dead-letter-contract.js';
import { describeQueue } from './queue-contract.js';
import { describeSeen, describeSeenBounds } from './seen-contract.js';

/** Takes time from what is left of every key, as if it had passed for the server. */
const AGE = `
for _, key in ipairs(redis.call('KEYS', ARGV[1] .. '*')) do
  local left = redis.call('PTTL', key)
  if left > 0 and left <= tonumber(ARGV[2]) then redis.call('DEL', key)
  elseif left > 0 then redis.call('PEXPIRE', key, left - ARGV[2]) end
  if redis.call('TYPE', key).ok == 'zset' and not string.find(key, ':ids') then
    for _, member in ipairs(redis.call('ZRANGE', key, 0, -1)) do
      redis.call('ZINCRBY', key, -ARGV[2], member)
    end
  end
end`;

describe.skipIf(!hasRedis)('over a Redis', () => {
  let server: RedisServer;
  let worlds = 0;
  const connect = () =>
    createClient({ url: server.url })
      .on('error', () => {}) // it is killed on purpose, and comes back
      .connect();
  let client: Awaited<ReturnType<typeof connect>>;

  beforeAll(async () => {
    server = await startRedis();
    client = await connect();
  });
  afterAll(async () => {
    client.destroy();
    await server.stop();
  });

  const enter = () => {
    const prefix = `world-${++worlds}`;
    let offset = 0;
    return {
      prefix,
      now: () => Date.now() + offset,
      pass: async (ms: number) => {
        offset += ms;
        await client.sendCommand(['EVAL', AGE, '0', `{${prefix}}`, String(ms)]);
      },
    };
  };

  describeQueue('Redis', async () => {
    const { prefix, now, pass } = enter();
    const deadLetters = async () => {
      const found = await client.xRange(`{${prefix}}:dead`, '-', '+');
      return found.map(({ message }) => ({
        record: JSON.parse(message['r']!) as DeadLetter['record'],
        reason: message['reason']!,
      }));
    };
    return {
      open: async (options) => createRedisQueue({ ...options, client, prefix, now }),
      pass,
      deadLetters,
    };
  });

  describeDeadLetters('Redis', () => {
    const { prefix, now } = enter();
    return {
      open: async (options) => createRedisQueue({ ...options, client, prefix }),
      openSeen: async () => createRedisSeen({ client, prefix }),
      now,
    };
  });

  const enterSeen = async () => {
    const { prefix, pass } = enter();
    const open = async (bounds?: IdBounds) => createRedisSeen({ ...bounds, client, prefix });
    return { open, pass };
  };
  describeSeen('Redis', enterSeen);
  describeSeenBounds('Redis', enterSeen);

  it('leaves nothing behind in Redis of ids whose time is over, whoever sent them', async () => {
    const { prefix, pass } = enter();
    const seen = createRedisSeen({ client, prefix });
    const finish = async (id: string, client: string) => {
      await seen.begin([id], 60_000, client);
      await seen.finish([{ id, outcome: 'delivered', status: 200 }], client);
    };
    for (let n = 0; n < 30; n++) await finish(`old ${n}`, `client ${n % 5}`);
    await pass(8 * 86_400_000);
    for (let n = 0; n < 60; n++) await finish(`new ${n}`, 'me');
    expect(await client.keys(`{${prefix}}:ids:*`)).toEqual([`{${prefix}}:ids:me`]);
    expect(await client.zScore(`{${prefix}}:ids`, '')).toBe(60);
  });

  it('leaves nothing behind in Redis of what is done', async () => {
    const { prefix } = enter();
    const queue = createRedisQueue({ client, prefix });
    await queue.put(Array.from({ length: 10 }, (_, i) => makeQueued(`u${i}`)));
    await queue.done(await queue.take(10, 60_000));
    expect(await client.keys(`{${prefix}}:*`)).toEqual([`{${prefix}}:version`]);
  });

  it('delivers what it has when others have filled Redis', async () => {
    const { prefix } = enter();
    const [queue, seen] = [
      createRedisQueue({ client, prefix }),
      createRedisSeen({ client, prefix }),
    ];
    const records = Array.from({ length: 40 }, (_, i) => makeQueued(`u${i}`));
    await queue.put(records);
    await queue.giveBack(back(await queue.take(10, 60_000), 0));
    const limit = (bytes: number) =>
      client.sendCommand(['CONFIG', 'SET', 'maxmemory', String(bytes)]);
    await limit(1_000_000);
    onTestFinished(async () => void (await limit(0)));
    await expect(queue.put([makeQueued()])).rejects.toThrow('OOM');
    const taken = await queue.take(20, 60_000);
    await seen.begin(['a'], 60_000);
    await seen.finish([{ id: 'a', outcome: 'delivered', status: 200 }]);
    await queue.done(taken.slice(0, 10));
    await queue.giveBack(back(taken.slice(10, 15), 0));
    for (const one of taken.slice(15)) await queue.bury(one, 'rejected 400');
    await queue.done(await queue.take(100, 60_000));
    expect(await queue.size()).toEqual({ waiting: 0, dead: 5 });
  });

  it('goes on with what was acknowledged when Redis is killed and comes back', async () => {
    const { prefix } = enter();
    const queue = createRedisQueue({ client, prefix });
    const seen = createRedisSeen({ client, prefix });
    const records = Array.from({ length: 50 }, (_, i) => makeQueued(`u${i}`));
    await queue.put(records);
    await seen.begin(['a'], 60_000);
    const before = await queue.take(10, 60_000);
    await server.kill();
    await server.restart();
    expect(await seen.begin(['a'], 60_000)).toEqual([{ state: 'begun' }]);
    await queue.done(before);
    const after = await queue.take(100, 60_000);
    expect(idsOf([...before, ...after]).sort()).toEqual(records.map(({ id }) => id).sort());
  });

  it('gives out what it read when the answer was lost, in order and none of it twice', async () => {
    const { prefix } = enter();
    let losesNext = false;
    const queue = createRedisQueue({
      client: {
        sendCommand: async (args) => {
          const answer = await client.sendCommand(args);
          if (!losesNext) return answer;
          losesNext = false;
          throw new Error('Socket closed unexpectedly');
        },
      },
      prefix,
    });
    const [one, two, three] = [makeIdentify('u'), makeQueued('v'), makeQueued('u')];
    await queue.put([one]);
    const first = await queue.take(1, 60_000);
    await queue.put([two, three]);
    losesNext = true;
    await expect(queue.take(10, 60_000)).rejects.toThrow('closed');
    // `three` is behind the identify `one` of the same user, which is still out.
    const second = await queue.take(10, 60_000);
    expect(idsOf(second)).toEqual([two.id]);
    await queue.done([...first, ...second]);
    expect(idsOf(await queue.take(10, 60_000))).toEqual([three.id]);
  });

  it('starts again when Redis has lost everything', async () => {
    const { prefix } = enter();
    const queue = createRedisQueue({ client, prefix });
    await queue.put([makeQueued('a')]);
    expect(await queue.take(1, 60_000)).toHaveLength(1);
    await client.sendCommand(['FLUSHALL']);
    const record = makeQueued('b');
    await queue.put([record]);
    expect(idsOf(await queue.take(10, 60_000))).toEqual([record.id]);
  });
});

describe.skipIf(!hasRedis)('what the build before this one has left in Redis', () => {
  let server: RedisServer;
  let client: Awaited<ReturnType<ReturnType<typeof createClient>['connect']>>;
  beforeAll(async () => {
    server = await startRedis();
    client = (await createClient({ url: server.url }).connect()) as typeof client;
  });
  afterAll(async () => {
    client.destroy();
    await server.stop();
  });
  const ask = (...args: string[]) => client.sendCommand(args);

  /** As version 1 put it: a lane for each user, and for each record without one. */
  const putOld = async (prefix: string, records: readonly QueuedRecord[], tries = 0) => {
    for (const record of records) {
      const { project, user_id: user } = record.body as Record<string, string>;
      const lane = JSON.stringify(user ? [project, user] : [record.id]);
      const key = `${record.type}:${record.id}:${project}`;
      const value = `${record.at} ${tries} ${JSON.stringify(record)}`;
      await ask('HSET', `{${prefix}}:records`, key, value);
      await ask('RPUSH', `{${prefix}}:lane:${lane}`, key);
      await ask('ZADD', `{${prefix}}:heads`, 'NX', String(record.at), lane);
      await ask('ZADD', `{${prefix}}:due`, 'NX', String(record.at - 1e13), lane);
      await ask('INCRBY', `{${prefix}}:weight`, '1');
    }
  };

  it('is delivered in its order, and its dead letters are there', async () => {
    const prefix = 'old';
    const records = [
      ...[makeIdentify('u'), makeQueued('u'), makeIdentify('u'), makeQueued()],
      ...Array.from({ length: 250 }, (_, i) => makeQueued(`u${i}`)),
    ];
    await putOld(prefix, records);
    // One lane was taken by a process that is dead, and one by a process that goes on.
    await ask('HSET', `{${prefix}}:out`, '["p","u"]', 'token 2 0', '["p","u9"]', 'token 1 0');
    await ask('ZADD', `{${prefix}}:due`, String(Date.now() + 60_000), '["p","u9"]');
    const dead = makeQueued();
    await ask('XADD', `{${prefix}}:dead`, '*', 'r', JSON.stringify(dead), 'reason', 'expired');
    const queue = createRedisQueue({ client, prefix });
    expect(await queue.size()).toEqual({ waiting: 253, dead: 1, oldest: 1_000 });
    const ids: string[] = [];
    for (let some = await queue.take(64, 60_000); some.length;) {
      ids.push(...idsOf(some));
      await queue.done(some);
      some = await queue.take(64, 60_000);
    }
    const expected = records.filter(({ body }) => (body as { user_id?: string }).user_id !== 'u9');
    expect(ids.sort()).toEqual(idsOf(expected.map((record) => ({ record }))).sort());
    const [letter] = await queue.deadLetters.list();
    expect(letter).toMatchObject({ record: dead, reason: 'expired' });
    expect(await queue.deadLetters.resend([letter!.id])).toBe(1);
    await queue.done(await queue.take(1, 60_000));
    // An empty stream stays.
    const left = ['dead', 'due', 'heads', 'lane:["p","u9"]', 'out', 'records', 'version', 'weight'];
    expect((await client.keys(`{${prefix}}:*`)).sort()).toEqual(
      left.map((key) => `{${prefix}}:${key}`),
    );
  });

  it('is refused in words where a newer program has written it', async () => {
    await ask('SET', '{newer}:version', '3');
    const queue = createRedisQueue({ client, prefix: 'newer' });
    await expect(queue.put([makeQueued()])).rejects.toThrow('is of version 3');
    await expect(queue.take(1, 1_000)).rejects.toThrow('use the newer program again');
  });

  it('is told of when it may be lost', async () => {
    const queue = createRedisQueue({ client });
    expect(await queue.check()).toEqual([]);
    await ask('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    await ask('CONFIG', 'SET', 'appendonly', 'no');
    expect(await queue.check()).toEqual([
      'Redis deletes records when its memory is full: set maxmemory-policy noeviction, not allkeys-lru',
      'Redis keeps nothing on disk, and what waits is lost when it ends: set appendonly yes',
    ]);
  });
});

it('refuses a number that is none', () => {
  const client = { sendCommand: () => Promise.reject(new Error('not to be asked')) };
  expect(() => createRedisQueue({ client, maxWaiting: 0 })).toThrow('`maxWaiting`');
});
