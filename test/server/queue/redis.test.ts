import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { hasRedis, startRedis, type RedisServer } from '../../support/start-redis.mjs';
import { createRedisQueue, createRedisSeen, type RedisClient } from '../../../src/relay-redis.js';
import type { IdBounds, QueuedRecord } from '../../../src/server/queue/ports.js';
import { back, idsOf, makeIdentify, makeQueued } from './make-queued.js';
import { describeDeadLetters } from './dead-letter-contract.js';
import {
  describeLeft,
  describeLongLine,
  describeQueue,
  type QueueWorld,
} from './queue-contract.js';
import {
  describeSeen,
  describeSeenBounds,
  describeSeenFailures,
  type Failure,
} from './seen-contract.js';

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
        await client.sendCommand(['EVAL', AGE, '0', `{${prefix}}`, String(Math.ceil(ms))]);
      },
    };
  };

  const enterQueue = async (): Promise<QueueWorld> => {
    const { prefix, now, pass } = enter();
    return {
      open: async (options) => createRedisQueue({ ...options, client, prefix, now }),
      pass,
    };
  };
  describeQueue('Redis', enterQueue);
  describeLongLine('Redis', enterQueue);
  describeDeadLetters('Redis', enterQueue);

  const enterSeen = async () => {
    const { prefix, pass } = enter();
    let failure: Failure | undefined;
    const failing: RedisClient = {
      sendCommand: async (args) => {
        if (failure === 'before') throw new Error('The client is closed');
        const answer = await client.sendCommand(args);
        if (failure === 'after' && args[0] !== 'SCRIPT')
          throw new Error('Socket closed unexpectedly');
        return answer;
      },
    };
    return {
      open: async (bounds?: IdBounds) => createRedisSeen({ ...bounds, client: failing, prefix }),
      pass,
      fail: (when?: Failure) => void (failure = when),
    };
  };
  describeSeen('Redis', enterSeen);
  describeSeenBounds('Redis', enterSeen);
  describeSeenFailures('Redis', enterSeen, ['before', 'after']);

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

  it('claims an id for others when Redis stalled until the connection was given up', async () => {
    const { prefix } = enter();
    const impatient = await createClient({
      ...{ url: server.url, disableOfflineQueue: true, pingInterval: 50 },
      socket: { socketTimeout: 200, reconnectStrategy: 20 },
    })
      .on('error', () => {})
      .connect();
    onTestFinished(() => impatient.destroy());
    const one = createRedisSeen({ client: impatient, prefix });
    const two = createRedisSeen({ client, prefix });
    await one.begin(['a'], 60_000);
    server.pause();
    await expect(one.begin(['b'], 60_000)).rejects.toThrow();
    server.resume();
    // Redis does what it was sent, though nobody waits for the answer.
    await vi.waitUntil(() => client.exists(`{${prefix}}:seen:b`));
    await vi.waitUntil(() => impatient.isReady);
    await one.begin(['c'], 60_000);
    expect(await two.begin(['a', 'b'], 60_000)).toEqual([{ state: 'begun' }, { state: 'new' }]);
  });

  it('gives out what it read when the answer was lost, in order and none of it twice', async () => {
    const { prefix } = enter();
    let losesNext = false;
    let isAway = false;
    const queue = createRedisQueue({
      client: {
        sendCommand: async (args) => {
          if (isAway) throw new Error('The client is closed');
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
    for (isAway of [false, true, true])
      await expect(queue.take(10, 60_000)).rejects.toThrow('closed');
    isAway = false;
    // `three` is behind the identify `one` of the same user, which is still out.
    const second = await queue.take(10, 60_000);
    expect(idsOf(second)).toEqual([two.id]);
    await queue.done([...first, ...second]);
    expect(idsOf(await queue.take(10, 60_000))).toEqual([three.id]);
  });

  const ask = (...args: string[]) => client.sendCommand(args);

  describeLeft('Redis', async ({ first, behind, failed, dead }) => {
    const key = (name: string) => `{old}:${name}`;
    const putOld = async (record: QueuedRecord, state: string, score?: number) => {
      const member = `${record.type}:${record.id}:p`;
      await ask('HSET', key('waiting'), member, `1000 ${state} me ${JSON.stringify(record)}`);
      await ask('ZADD', key('ages'), '1000', member);
      if (score !== undefined) await ask('ZADD', key('order'), String(score), member);
      return member;
    };
    await ask('SET', key('version'), '2');
    const members = [await putOld(first, '0 0', 1_000 - 1e13), await putOld(behind, '0 0')];
    await ask('RPUSH', key('line:["me","p","a"]'), ...members);
    const taken = await putOld(failed, '2 5', 5);
    await ask('HSET', key('taken'), taken, 'a token of who is dead');
    await ask('HSET', key('sizes'), 'waiting', '3', 'waiting me', '3', 'dead', '1');
    await ask('XADD', key('dead'), '*', 'r', JSON.stringify(dead), 'reason', 'expired', 'c', '');
    // An empty stream stays.
    onTestFinished(async () =>
      expect((await client.keys(key('*'))).sort()).toEqual([key('dead'), key('version')]),
    );
    return createRedisQueue({ client, prefix: 'old' });
  });

  it.each([
    ['newer', ['SET', '{newer}:version', '3'], '3'],
    ['older', ['ZADD', '{older}:heads', '1', '["p","u"]'], '1'],
  ])('refuses in words what another build has left: %s', async (prefix, command, version) => {
    await ask(...command);
    const queue = createRedisQueue({ client, prefix });
    const words = `Redis holds data of version ${version} in {${prefix}}:waiting, and this program knows version 2`;
    await expect(queue.put([makeQueued()])).rejects.toThrow(words);
    await expect(queue.take(1, 1_000)).rejects.toThrow('run the program that has written it');
  });

  it('says when what it keeps may be lost', async () => {
    const queue = createRedisQueue({ client });
    onTestFinished(async () => {
      await server.kill();
      await server.restart(); // with the settings that it had
    });
    expect(await queue.check()).toEqual([]);
    await ask('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    await ask('CONFIG', 'SET', 'appendonly', 'no');
    expect(await queue.check()).toEqual([
      'Redis deletes records when its memory is full: set maxmemory-policy noeviction, not allkeys-lru',
      'Redis keeps nothing on disk, and what waits is lost when it ends: set appendonly yes',
    ]);
  });
});
