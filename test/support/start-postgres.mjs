import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findProgram } from './find-program.mjs';
import { freePort } from './free-port.mjs';
import { childrenOf } from './processes.mjs';

/** Who runs the server, which refuses to run as root. */
const owner = () => {
  if (process.getuid?.() !== 0) return {};
  const idOf = (kind) => Number(execFileSync('id', [kind, 'nobody']));
  return { uid: idOf('-u'), gid: idOf('-g') };
};

/** A Postgres of one's own, on a free port of this machine. `settings` are those of postgresql.conf. */
export async function startPostgres(settings = {}) {
  const folder = dirname(findProgram('postgres'));
  const place = mkdtempSync(join(tmpdir(), 'service-postgres-'));
  const data = join(place, 'data');
  const user = owner();
  if (user.uid !== undefined) chownSync(place, user.uid, user.gid);
  const port = await freePort();
  const options = { cwd: place, ...user };
  execFileSync(
    join(folder, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    { ...options, stdio: 'ignore' },
  );
  const all = {
    ...{ listen_addresses: '127.0.0.1', unix_socket_directories: place, port },
    ...settings,
  };
  let child;

  async function start() {
    const given = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    child = spawn(join(folder, 'postgres'), ['-D', data, ...given], {
      ...options,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await new Promise((resolve, reject) => {
      let output = '';
      child.stderr.on('data', (chunk) => {
        output = (output + chunk).slice(-10_000); // refused clients may have much to say
        if (output.includes('ready to accept connections')) resolve();
      });
      child.on('exit', () => reject(new Error(`postgres ended:\n${output}`)));
    });
  }

  /** Signals the server and the processes that serve its connections. */
  function signalAll(signal) {
    for (const { pid } of [child, ...childrenOf(child.pid)]) {
      try {
        process.kill(pid, signal);
      } catch {
        // It has just ended.
      }
    }
  }

  async function end(signal) {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  }

  await start();
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    port,
    /** Ends it at once, without writing what is in memory: what was committed is in its log. */
    kill: () => end('SIGQUIT'),
    restart: start,
    /** Has it stand still, as a machine that is out of memory does, until it goes on. */
    freeze: () => signalAll('SIGSTOP'),
    goOn: () => signalAll('SIGCONT'),
    async stop() {
      await end('SIGQUIT');
      rmSync(place, { recursive: true, force: true });
    },
  };
}
