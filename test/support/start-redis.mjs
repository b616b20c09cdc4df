import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from './find-program.mjs';
import { freePort } from './free-port.mjs';

/**
 * A Redis of one's own on a free port, which keeps what it acknowledged also when it is killed. `more` are further
 * arguments of its command.
 */
export async function startRedis(more = []) {
  const folder = mkdtempSync(join(tmpdir(), 'relay-redis-'));
  const port = await freePort();
  let child;

  async function start() {
    const keep = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];
    const place = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder];
    child = spawn(findProgram('redis-server'), [...place, ...keep, ...more], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((resolve, reject) => {
      let output = '';
      child.stdout.on('data', (chunk) => {
        output += chunk;
        if (output.includes('Ready to accept connections')) resolve();
      });
      child.on('exit', () => reject(new Error(`redis-server ended:\n${output}`)));
    });
  }

  async function kill() {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    kill,
    restart: start,
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async stop() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
