import { join } from 'node:path';
import { EXAMPLES_FOLDER, FOLDER } from './install.mjs';
import { findNginx, startNginx } from './nginx.mjs';
import { startProgram } from './program.mjs';

const TOOLS = join(FOLDER, 'node_modules/.bin');

/** One that is a single command. */
const command = (...words) =>
  async function* (options) {
    yield startProgram({ ...options, command: words });
  };

const knowsClients = { limitsClients: true };

/** How each is started, as its first lines say, and what it promises beyond what all do. */
export const RECIPES = {
  'node-hono': { start: command(process.execPath, 'server.js'), promises: knowsClients },
  'node-express': { start: command(process.execPath, 'server.js'), promises: knowsClients },
  'cloudflare-worker': {
    // Without Cloudflare in front nobody writes `cf-connecting-ip`: its limit cannot be tried here.
    start: command(process.execPath, '../support/run-worker.mjs'),
  },
  'cloudflare-queue': {
    start: command(process.execPath, '../support/run-worker.mjs'),
    promises: { outcome: 'accepted' },
  },
  deno: {
    start: command(join(TOOLS, 'deno'), 'run', '--check', '--allow-env', '--allow-net', 'main.ts'),
    promises: knowsClients,
  },
  bun: { start: command(join(TOOLS, 'bun'), 'server.ts'), promises: knowsClients },
  nginx: {
    missing: () => (findNginx() ? undefined : 'there is no nginx here'),
    start: startNginx,
    promises: knowsClients,
  },
  // It is a part of the example, whose build takes longer than all the others.
  'next-app': {
    folder: join(EXAMPLES_FOLDER, 'next-app'),
    start: command(process.execPath, join(TOOLS, 'next'), 'start'),
  },
};
