import { writeFileSync } from 'node:fs';
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
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
  /** A Redis behind a network that can be cut: nothing passes then, and no connection is closed. */
  const enter = async () => {
    const redis = await startRedis();
    const { port } = new URL(redis.url);
    const sockets = new Set<Socket>();
    let isCut = false;
    const network = createServer((near) => {
      const far = connect(Number(port), '127.0.0.1');
      for (const socket of [near, far]) {
        sockets.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => sockets.delete(socket));
        if (isCut) socket.pause();
      }
      near.pipe(far).pipe(near);
    });
    await new Promise<void>((resolve) => network.listen(0, '127.0.0.1', resolve));
    const { port: near } = network.address() as AddressInfo;
    const store = await openStore(`redis://127.0.0.1:${near}`, { silence: 200 });
    onTestFinished(async () => {
      await store.close();
      for (const socket of sockets) socket.destroy();
      network.close();
      await redis.stop();
    });
    const cut = () => {
      isCut = true;
      for (const socket of sockets) socket.unpipe().pause();
    };
    return { ...store, redis, cut };
  };

  it('says that Redis is away, and why', async () => {
    const { queue, redis } = await enter();
    await redis.kill();
    const words = /^Redis does not answer: /;
    await expect(queue.take(1, 1_000)).rejects.toThrow(words);
    await expect(queue.take(1, 1_000)).rejects.toThrow(words);
  });

  it('gives up a connection on which nothing comes any more', async () => {
    const { queue, cut } = await enter();
    cut();
    await expect(queue.take(1, 1_000)).rejects.toThrow(/^Redis does not answer: /);
  });
});
