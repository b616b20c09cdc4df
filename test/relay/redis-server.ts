import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Whether this machine has a Redis to start. */
export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;
if (!hasRedis) console.log('left out: there is no redis-server on this machine');

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
};

/** A Redis of the test's own that keeps what it acknowledged, also when it is killed. */
export const startRedis = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'relay-redis-'));
  const port = await freePort();
  let child: ChildProcess;

  const start = async (): Promise<void> => {
    const options = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];
    const place = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder];
    child = spawn('redis-server', [...place, ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    await new Promise<void>((resolve, reject) => {
      child.stdout!.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (output.includes('Ready to accept connections')) resolve();
      });
      child.on('exit', () => reject(new Error(`redis-server ended:\n${output}`)));
    });
  };
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };

  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    kill,
    restart: start,
    stop: async (): Promise<void> => {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

export type RedisServer = Awaited<ReturnType<typeof startRedis>>;
