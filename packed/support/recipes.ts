import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.mjs';
import type { Promises } from './check-relay.js';
import { EXAMPLES_FOLDER, FOLDER } from './install.js';
import { startProgram, type Program } from './program.js';

export interface StartOptions {
  folder: string;
  port: number;
  env: Record<string, string>;
}

export interface Recipe {
  start: (options: StartOptions) => Promise<Program[]>;
  /** What it promises beyond what all do. */
  promises?: Promises;
  /** Where it stands, if not beside the others. */
  folder?: string;
  /** Its server is none of the project's own modules. */
  isNightly?: boolean;
  /** What it needs and is not here. */
  missing?: () => string | undefined;
}

const TOOLS = join(FOLDER, 'node_modules/.bin');
const NODE = process.execPath;

/** One that is a single command. */
const command =
  (...words: string[]) =>
  async (options: StartOptions) => [startProgram({ ...options, command: words })];

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
const findNginx = () =>
  ['nginx', '/usr/sbin/nginx'].find((file) => {
    try {
      execFileSync(file, ['-v'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  });

/** The server of the recipe, and nginx with its relay.conf in front; only the ports are others. */
const startNginx = async ({ folder, port, env }: StartOptions) => {
  const behind = await freePort();
  const prefix = join(folder, 'prefix');
  mkdirSync(prefix, { recursive: true });
  const config = readFileSync(join(folder, 'relay.conf'), 'utf8')
    .replace('listen 8080;', `listen 127.0.0.1:${port};`)
    .replace('127.0.0.1:3000', `127.0.0.1:${behind}`);
  writeFileSync(join(prefix, 'relay.conf'), config);
  writeFileSync(join(prefix, 'nginx.conf'), AROUND);
  const nginx = [findNginx()!, '-p', prefix, '-c', 'nginx.conf', '-e', 'stderr'];
  return [
    startProgram({ command: [NODE, 'server.js'], folder, env: { ...env, PORT: `${behind}` } }),
    startProgram({ command: nginx, folder, env: {} }),
  ];
};

const knowsClients = { limitsClients: true };
const isNightly = true;

/** How each is started, as its first lines say. */
export const RECIPES: Record<string, Recipe> = {
  'node-hono': { start: command(NODE, 'server.js'), promises: knowsClients },
  'node-express': { isNightly, start: command(NODE, 'server.js'), promises: knowsClients },
  'cloudflare-worker': {
    isNightly,
    // Without Cloudflare in front nobody writes `cf-connecting-ip`: its limit cannot be tried here.
    start: command(NODE, '../support/run-worker.mjs'),
  },
  'cloudflare-queue': {
    isNightly,
    start: command(NODE, '../support/run-worker.mjs'),
    promises: { outcome: 'accepted' },
  },
  deno: {
    isNightly,
    start: command(join(TOOLS, 'deno'), 'run', '--check', '--allow-env', '--allow-net', 'main.ts'),
    promises: knowsClients,
  },
  bun: { isNightly, start: command(join(TOOLS, 'bun'), 'server.ts'), promises: knowsClients },
  nginx: {
    missing: () => (findNginx() ? undefined : 'there is no nginx here'),
    start: startNginx,
    promises: knowsClients,
  },
  // It is a part of the example, whose build takes longer than all the others.
  'next-app': {
    isNightly,
    folder: join(EXAMPLES_FOLDER, 'next-app'),
    start: command(NODE, join(TOOLS, 'next'), 'start'),
  },
};
