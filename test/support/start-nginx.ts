import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from './find-program.mjs';

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
  include site.conf;
}
`;

/** Writes a configuration into a folder, and answers the command that runs nginx with it. */
export const nginxCommand = (folder: string, config: string): [string, ...string[]] => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'site.conf'), config);
  writeFileSync(join(folder, 'nginx.conf'), AROUND);
  return [findProgram('nginx')!, '-p', folder, '-c', 'nginx.conf', '-e', 'stderr'];
};

/** Starts nginx, which answers at a port when this settles. */
export const startNginx = async (folder: string, config: string, port: number) => {
  const [file, ...args] = nginxCommand(folder, config);
  const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = once(child, 'exit');
  const isUp = () =>
    fetch(`http://127.0.0.1:${port}/`, { redirect: 'manual' }).then(
      () => true,
      () => false,
    );
  while (!(await isUp())) if (child.exitCode !== null) throw new Error(`nginx ended:\n${output}`);
  return {
    stop: async (): Promise<void> => {
      child.kill();
      await ended;
    },
  };
};
