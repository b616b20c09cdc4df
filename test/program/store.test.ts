import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasRedis, startRedis } from '../support/start-redis.mjs';
import { openStore } from '../../src/program/store.js';
import { tempFolder } from '../support/temp-folder.js';

it.each([
  ['redis://127.0.0.1:1', /^`STORE_URL`: Redis does not answer: .*ECONNREFUSED/],
  ['redis://127.0.0.1:99999', /^`STORE_URL`: /],
  ['file://host/x', /^`STORE_URL`: /],
])('names the setting when there is no store at %s', async (url, words) => {
  await expect(openStore(url)).rejects.toThrow(words);
});

it('names the setting when a file is no database', async () => {
  const folder = tempFolder();
  writeFileSync(join(folder, 'queue.db'), 'x'.repeat(10_000));
  await expect(openStore(`file:${folder}`)).rejects.toThrow('`STORE_URL`: file is not a database');
});

describe.skipIf(!hasRedis)('over a Redis', () => {
  const enter = async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const store = await openStore(redis.url, { silence: 200 });
    onTestFinished(() => store.close());
    return { ...store, redis };
  };

  it('says that Redis is away, and why', async () => {
    const { queue, redis } = await enter();
    await redis.kill();
    const words = /^Redis does not answer: /;
    await expect(queue.take(1, 1_000)).rejects.toThrow(words);
    await expect(queue.take(1, 1_000)).rejects.toThrow(words);
  });

  it('gives up a connection on which nothing comes any more', async () => {
    const { queue, redis } = await enter();
    redis.pause();
    await expect(queue.take(1, 1_000)).rejects.toThrow(/^Redis does not answer: /);
  });
});
