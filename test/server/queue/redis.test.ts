import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startRedis, type RedisServer } from '../../support/start-redis.mjs';
import { createRedisQueue } from '../../../src/relay-redis.js';
import { back, idsOf, makeIdentify, makeQueued } from './make-queued.js';
import { describeDeadLetters } from './dead-letter-contract.js';
import { describeLongLine, describeQueue, type QueueWorld } from './queue-contract.js';

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

describe('over a Redis', { tags: ['Redis'] }, () => {
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

  it('leaves nothing behind in Redis of ids whose time is over, whoever sent them', async () => {
    const { prefix, pass } = enter();
    const queue = createRedisQueue({ client, prefix });
    const put = async (count: number, sender: (n: number) => string) => {
      for (let n = 0; n < count; n++) await queue.put([{ ...makeQueued(), sender: sender(n) }]);
      await queue.done(await queue.take(count, 60_000));
    };
    await put(30, (n) => `client${n % 5}`);
    await pass(8 * 86_400_000);
    await put(60, () => 'me');
    expect(await client.keys(`{${prefix}}:ids:*`)).toEqual([`{${prefix}}:ids:me`]);
    expect(await client.zScore(`{${prefix}}:ids`, '')).toBe(60);
  });

  it('leaves nothing behind in Redis of what is done', async () => {
    const { prefix } = enter();
    const queue = createRedisQueue({ client, prefix, idAge: 0 });
    await queue.put(Array.from({ length: 10 }, (_, i) => makeQueued(`u${i}`)));
    await queue.done(await queue.take(10, 60_000));
    expect(await client.keys(`{${prefix}}:*`)).toEqual([`{${prefix}}:version`]);
  });

  it('delivers what it has when others have filled Redis', async () => {
    const { prefix } = enter();
    const queue = createRedisQueue({ client, prefix });
    const records = Array.from({ length: 40 }, (_, i) => makeQueued(`u${i}`));
    await queue.put(records);
    await queue.giveBack(back(await queue.take(10, 60_000), 0));
    const limit = (bytes: number) =>
      client.sendCommand(['CONFIG', 'SET', 'maxmemory', String(bytes)]);
    await limit(1_000_000);
    onTestFinished(async () => void (await limit(0)));
    await expect(queue.put([makeQueued()])).rejects.toThrow('OOM');
    const taken = await queue.take(20, 60_000);
    await queue.done(taken.slice(0, 10));
    await queue.giveBack(back(taken.slice(10, 15), 0));
    for (const one of taken.slice(15)) await queue.bury(one, 'rejected 400');
    await queue.done(await queue.take(100, 60_000));
    expect(await queue.size()).toEqual({ waiting: 0, dead: 5 });
  });

  it('goes on with what was acknowledged when Redis is killed and comes back', async () => {
    const { prefix } = enter();
    const queue = createRedisQueue({ client, prefix });
    const records = Array.from({ length: 50 }, (_, i) => makeQueued(`u${i}`));
    await queue.put(records);
    const before = await queue.take(10, 60_000);
    await server.kill();
    await server.restart();
    expect(await queue.put(records)).toMatchObject({ placed: records.map(() => 'known') });
    await queue.done(before);
    const after = await queue.take(100, 60_000);
    expect(idsOf([...before, ...after]).sort()).toEqual(records.map(({ id }) => id).sort());
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

  it.each([
    ['newer', ['SET', '{newer}:version', '4'], '4'],
    ['last', ['SET', '{last}:version', '2'], '2'],
    ['older', ['ZADD', '{older}:heads', '1', '["p","u"]'], '1'],
  ])('refuses in words what another build has left: %s', async (prefix, command, version) => {
    await ask(...command);
    const queue = createRedisQueue({ client, prefix });
    const words = `Redis holds data of version ${version} in {${prefix}}:waiting, and this program knows version 3`;
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
