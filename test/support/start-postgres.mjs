import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.mjs';

/** Where Debian puts the programs of the server, which are not on the path. */
const DEBIAN = '/usr/lib/postgresql';

/** The folder of the newest server of this machine; an empty text if its programs are on the path. */
const programs = () => {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => b - a) : [];
  const folders = [...versions.map((version) => join(DEBIAN, version, 'bin')), ''];
  return folders.find((folder) => !spawnSync(join(folder, 'postgres'), ['--version']).status);
};

/** Who runs the server, which refuses to run as root. */
const owner = () => {
  if (process.getuid?.() !== 0) return {};
  const idOf = (kind) => Number(execFileSync('id', [kind, 'postgres']));
  return { uid: idOf('-u'), gid: idOf('-g') };
};

const folder = programs();
/** Whether this machine has a Postgres to start; who asks is told that what needs it is left out. */
export const hasPostgres = folder !== undefined;
if (!hasPostgres) console.log('left out: there is no Postgres server on this machine');

/** A Postgres of one's own, on a free port of this machine. `settings` are those of postgresql.conf. */
export async function startPostgres(settings = {}) {
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
    const children = execFileSync('pgrep', ['-P', String(child.pid)], { encoding: 'utf8' });
    for (const pid of [child.pid, ...children.trim().split('\n').map(Number)]) {
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
