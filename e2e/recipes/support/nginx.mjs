import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../../lab/relay/support/free-port.mjs';
import { startProgram } from './program.mjs';

/** What Debian's nginx.conf is around conf.d/, in one process that stays in its folder. */
const AROUND = `
daemon off;
master_process off;
pid nginx.pid;
events {}
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  include relay.conf;
}
`;

/** The command, or undefined. Debian's is where only root's PATH leads. */
export const findNginx = () =>
  ['nginx', '/usr/sbin/nginx'].find((file) => {
    try {
      execFileSync(file, ['-v'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  });

/** The server of the recipe, and nginx with its relay.conf in front; only the ports are others. */
export async function* startNginx({ folder, port, env }) {
  const behind = await freePort();
  const prefix = join(folder, 'prefix');
  mkdirSync(prefix, { recursive: true });
  const config = readFileSync(join(folder, 'relay.conf'), 'utf8')
    .replace('listen 8080;', `listen 127.0.0.1:${port};`)
    .replace('127.0.0.1:3000', `127.0.0.1:${behind}`);
  writeFileSync(join(prefix, 'relay.conf'), config);
  writeFileSync(join(prefix, 'nginx.conf'), AROUND);
  yield startProgram({
    command: [process.execPath, 'server.js'],
    folder,
    env: { ...env, PORT: String(behind) },
  });
  yield startProgram({
    command: [findNginx(), '-p', prefix, '-c', 'nginx.conf', '-e', 'stderr'],
    folder,
    env: {},
  });
}
