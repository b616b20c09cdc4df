import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { hasRedis, startRedis, type RedisServer } from '../../../lab/relay/support/start-redis.mjs';
import { createRedisQueue, createRedisSeen } from '../../../src/relay-redis.js';
import type { DeadLetter } from './memory-queue.js';
import { idsOf, makeQueued } from './make-queued.js';
import { describeDeadLetters } from './dead-letter-contract.js';
import { describeQueue } from './queue-contract.js';
import { describeSeen } from './seen-contract.js';

/** Takes time from what is left of every key, as if it had passed for the server. */
const AGE = `
for _, key in ipairs(redis.call('KEYS', ARGV[1] .. '*')) do
  local left = redis.call('PTTL', key)
  if left > 0 and left <= tonumber(ARGV[2]) then redis.call('DEL', key)
  elseif left > 0 then redis.call('PEXPIRE', key, left - ARGV[2]) end
  if redis.call('TYPE', key).ok == 'zset' then
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

  describeSeen('Redis', async () => {
    const { prefix, pass } = enter();
    return { open: async () => createRedisSeen({ client, prefix }), pass };
  });

  it('leaves nothing behind in Redis of what is done', async () => {
    const { prefix } = enter();
    const queue = createRedisQueue({ client, prefix });
    await queue.put(Array.from({ length: 10 }, (_, i) => makeQueued(`u${i}`)));
    await queue.done(await queue.take(10, 60_000));
    expect(await client.keys(`{${prefix}}:*`)).toEqual([]);
  });

  it('delivers what it has when others have filled Redis', async () => {
    const { prefix } = enter();
    const [queue, seen] = [
      createRedisQueue({ client, prefix }),
      createRedisSeen({ client, prefix }),
    ];
    const records = Array.from({ length: 40 }, (_, i) => makeQueued(`u${i}`));
    await queue.put(records);
    await queue.retry(await queue.take(10, 60_000), 0);
    const limit = (bytes: number) =>
      client.sendCommand(['CONFIG', 'SET', 'maxmemory', String(bytes)]);
    await limit(1_000_000);
    onTestFinished(async () => void (await limit(0)));
    await expect(queue.put([makeQueued()])).rejects.toThrow('OOM');
    const taken = await queue.take(20, 60_000);
    await seen.begin(['a'], 60_000);
    await seen.finish([{ id: 'a', outcome: 'delivered', status: 200 }]);
    await queue.done(taken.slice(0, 10));
    await queue.retry(taken.slice(10, 15), 0);
    for (const one of taken.slice(15)) await queue.bury(one, 'rejected 400');
    await queue.done(await queue.take(100, 60_000));
    expect(await queue.size()).toEqual({ waiting: 0, dead: 5 });
  });

  it.each(['records', 'weight', 'heads', 'due', 'out', 'lane:["p","u7"]'])(
    'goes on with all others, and with new records, when somebody deletes its %s',
    async (key) => {
      const { prefix, pass } = enter();
      const queue = createRedisQueue({ client, prefix });
      await queue.put(Array.from({ length: 20 }, (_, i) => makeQueued(`u${i}`)));
      const taken = await queue.take(1, 60_000);
      await client.del(`{${prefix}}:${key}`);
      await queue.done(taken);
      const fresh = Array.from({ length: 20 }, (_, i) => makeQueued(`u${i}`));
      await queue.put(fresh);
      await pass(60_001);
      const ids = new Set<string>();
      for (let some = await queue.take(7, 60_000); some.length;) {
        for (const id of idsOf(some)) ids.add(id);
        await queue.done(some);
        some = await queue.take(7, 60_000);
      }
      expect(fresh.every(({ id }) => ids.has(id))).toBe(true);
      expect(ids.size).toBeGreaterThanOrEqual(key === 'records' ? 20 : 38);
    },
  );

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
    const [one, two, three] = [makeQueued('u'), makeQueued('v'), makeQueued('u')];
    await queue.put([one]);
    const first = await queue.take(1, 60_000);
    await queue.put([two, three]);
    losesNext = true;
    await expect(queue.take(10, 60_000)).rejects.toThrow('closed');
    // `three` is behind `one` of the same user, which is still out.
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

it('refuses a number that is none', () => {
  const client = { sendCommand: () => Promise.reject(new Error('not to be asked')) };
  expect(() => createRedisQueue({ client, maxWaiting: 0 })).toThrow('`maxWaiting`');
});
