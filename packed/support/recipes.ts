import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.mjs';
import { nginxCommand } from '../../test/support/start-nginx.js';
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
  /** What it needs beside Node. */
  tags?: string[];
}

const TOOLS = join(FOLDER, 'node_modules/.bin');
const NODE = process.execPath;

/** One that is a single command. */
const command =
  (...words: string[]) =>
  async (options: StartOptions) => [startProgram({ ...options, command: words })];

/** The server of the recipe, and nginx with its relay.conf in front; only the ports are others. */
const startNginx = async ({ folder, port, env }: StartOptions) => {
  const behind = await freePort();
  const config = readFileSync(join(folder, 'relay.conf'), 'utf8')
    .replace('listen 8080;', `listen 127.0.0.1:${port};`)
    .replace('127.0.0.1:3000', `127.0.0.1:${behind}`);
  const nginx = nginxCommand(join(folder, 'prefix'), config);
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
  deno: {
    isNightly,
    start: command(join(TOOLS, 'deno'), 'run', '--check', '--allow-env', '--allow-net', 'main.ts'),
    promises: knowsClients,
  },
  bun: { isNightly, start: command(join(TOOLS, 'bun'), 'server.ts'), promises: knowsClients },
  nginx: {
    tags: ['nginx'],
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
