import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from 'redis';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startRedis } from '../support/start-redis.mjs';
import { makeQueued } from '../server/queue/make-queued.js';
import { openQueue } from '../../src/program/open-queue.js';
import { tempFolder } from '../support/temp-folder.js';

it.each([
  ['redis://127.0.0.1:1', /^`QUEUE_URL`: Redis does not answer: .*ECONNREFUSED/],
  ['redis://127.0.0.1:99999', /^`QUEUE_URL`: /],
  ['file://host/x', /^`QUEUE_URL`: /],
])('names the setting when there is no queue at %s', async (url, words) => {
  await expect(openQueue({ url })).rejects.toThrow(words);
});

it('names the setting when a file is no database', async () => {
  const folder = tempFolder();
  writeFileSync(join(folder, 'queue.db'), 'x'.repeat(10_000));
  await expect(openQueue({ url: `file:${folder}` })).rejects.toThrow(
    '`QUEUE_URL`: file is not a database',
  );
});

describe('over a Redis', { tags: ['Redis'] }, () => {
  const enter = async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const opened = await openQueue({ url: redis.url, silence: 200 });
    onTestFinished(() => opened.close());
    return { ...opened, redis };
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

  const run = async (more: readonly string[] = []) => {
    const redis = await startRedis(more);
    onTestFinished(() => redis.stop());
    const client = await createClient({ url: redis.url }).connect();
    onTestFinished(() => client.destroy());
    const ask = (...words: string[]) => client.sendCommand(words) as Promise<string>;
    return { ...redis, port: new URL(redis.url).port, ask };
  };
  /** Two nodes of a cluster, each with one half of the keys; where there is one, it has all of them. */
  const runCluster = async (count: number) => {
    const cluster = ['--cluster-enabled', 'yes'];
    const nodes = await Promise.all(Array.from({ length: count }, () => run(cluster)));
    const [first, second] = nodes;
    if (second) await first!.ask('CLUSTER', 'MEET', '127.0.0.1', second.port);
    const bounds = second ? [0, 8_192, 16_384] : [0, 16_384];
    for (const [at, { ask }] of nodes.entries()) {
      const slots = Array.from(
        { length: bounds[at + 1]! - bounds[at]! },
        (_, n) => bounds[at]! + n,
      );
      await ask('CLUSTER', 'ADDSLOTS', ...slots.map(String));
    }
    for (const { ask } of nodes)
      await vi.waitUntil(async () => (await ask('CLUSTER', 'INFO')).includes('state:ok'), 20_000);
    return nodes;
  };
  const openAndClose = async (url: string) => (await openQueue({ url })).close();

  it('says at the start that it is a cluster in which another node has the keys', async () => {
    const nodes = await runCluster(2);
    const opened = await Promise.allSettled(nodes.map(({ url }) => openAndClose(url)));
    const words = opened.flatMap((one) =>
      one.status === 'rejected' ? [(one.reason as Error).message] : [],
    );
    expect(words).toEqual([
      expect.stringMatching(/^`QUEUE_URL`: .* a cluster, in which another node has the keys/),
    ]);
  });

  it('works with a cluster of one node', async () => {
    const [node] = await runCluster(1);
    const { queue, close } = await openQueue({ url: node!.url });
    onTestFinished(close);
    await queue.put([makeQueued()]);
    expect(await queue.take(1, 1_000)).toHaveLength(1);
  });

  it('says at the start that it may not write there', async () => {
    const { url, port, ask } = await run();
    await ask('ACL', 'SETUSER', 'reader', 'on', '>secret', '~*', '+@all', '-@write');
    await expect(openAndClose(url.replace('//', '//reader:secret@'))).rejects.toThrow(
      /^`QUEUE_URL`: NOPERM/,
    );
    const replica = await run(['--replicaof', `127.0.0.1 ${port}`]);
    await expect(openAndClose(replica.url)).rejects.toThrow(/^`QUEUE_URL`: .*a replica/);
  });
});
